"""A Docker daemon of the tests' own, below one temporary directory: how it is started and ended."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

import certificates
from engine import Engine


class Unable(Exception):
    """Why no daemon can run here."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(what, condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            raise Unable(f"{what} ended with {process.returncode}")
        if time.monotonic() > end:
            raise Unable(f"{what} is not ready after {seconds} s")
        time.sleep(0.05)


def is_listening(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class World:
    """What was started, to be ended in reverse."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="berth-docker-", dir="/var/tmp")
        self.processes = []
        self.bridge = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, name, words):
        log = open(self.path(name + ".log"), "wb")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        log.close()
        self.processes.append(process)
        return process

    def last_words(self, name):
        with open(self.path(name + ".log"), errors="replace") as log:
            return log.read()[-1500:]

    def end(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        if self.bridge:
            subprocess.run(["ip", "link", "del", self.bridge], check=False)
        for line in reversed(open("/proc/self/mounts").read().splitlines()):
            place = line.split()[1]
            if place.startswith(self.directory + "/"):
                subprocess.run(["umount", "-l", place], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)


def make_bridge(world):
    """An address range that no interface here has."""
    taken = subprocess.check_output(["ip", "-4", "-o", "addr"], text=True)
    number = next(each for each in range(20, 250) if f" 172.30.{each}." not in taken)
    name = f"berth{os.getpid()}"[:15]
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True, capture_output=True)
    world.bridge = name
    subprocess.run(["ip", "addr", "add", f"172.30.{number}.1/24", "dev", name], check=True, capture_output=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True, capture_output=True)


def check_programs():
    missing = [each for each in ("dockerd", "containerd", "runc", "ip", "docker-registry", "htpasswd") if not shutil.which(each)]
    if missing or not os.path.exists("/bin/busybox"):
        raise Unable("not installed: " + ", ".join(missing or ["busybox"]))
    if os.geteuid() != 0:
        raise Unable("a daemon needs root")


def start_daemon(world, more=()):
    """An Engine that answers, and its process. Once more after that has ended: the same daemon again."""
    check_programs()
    if not world.bridge:
        try:
            make_bridge(world)
        except subprocess.CalledProcessError as failure:
            raise Unable("no network bridge can be made: " + failure.stderr.decode().strip())
    address = world.path("docker.sock")
    words = ["dockerd", "--data-root", world.path("data"), "--exec-root", world.path("exec"), "-H", "unix://" + address,
             "--pidfile", world.path("pid"), "-b", world.bridge, "--iptables=false", "--ip-forward=false", "--ip-masq=false"]
    process = world.start("dockerd", words + list(more))
    engine = Engine(address)
    try:
        wait_for("dockerd", engine.is_up, process)
    except Unable as failure:
        raise Unable(f"{failure}: {world.last_words('dockerd')}")
    os.environ["BERTH_TEST_DOCKER"] = "unix://" + address
    return engine, process


def tls_words(world):
    """So that the daemon listens on loopback too, and the environment says where."""
    if not shutil.which("openssl"):
        return []
    server, client = certificates.make_both(world.path("tls"))
    address = f"tcp://127.0.0.1:{free_port()}"
    os.environ["BERTH_TEST_TLS"] = address
    os.environ["BERTH_TEST_CERTS"] = client
    return ["-H", address, "--tlsverify", "--tlscacert", server + "/ca.pem", "--tlscert", server + "/cert.pem",
            "--tlskey", server + "/key.pem"]
