"""A server for ssh on loopback, and an `ssh` that knows it and has a key for it."""

import os
import shutil
import subprocess

from daemon import free_port, is_listening, wait_for

PROGRAMS = ("ssh", "sshd", "ssh-keygen", "unshare", "docker")


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True, stdin=subprocess.DEVNULL)
    with open(path + ".pub") as public:
        return " ".join(public.read().split()[:2])


def write(path, text, mode=0o600):
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)


def start_ssh(world, socket):
    """Sets BERTH_TEST_SSH and BERTH_TEST_SSH_PATH, or BERTH_TEST_NO_SSH."""
    missing = [each for each in PROGRAMS if not shutil.which(each)]
    if missing:
        os.environ["BERTH_TEST_NO_SSH"] = "not installed: " + ", ".join(missing)
        return
    folder = world.path("ssh")
    os.makedirs(folder, 0o700)
    port = free_port()
    host_key = make_key(folder + "/host")
    write(folder + "/authorized", make_key(folder + "/user") + "\n")
    write(folder + "/known", f"[127.0.0.1]:{port} {host_key}\n")
    write(folder + "/sshd_config", f"""Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
""")
    write(folder + "/ssh_config", f"""IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
StrictHostKeyChecking yes
BatchMode yes
""")
    os.makedirs(folder + "/bin")
    write(folder + "/bin/ssh", f"#!/bin/sh\nexec {shutil.which('ssh')} -F {folder}/ssh_config \"$@\"\n", 0o700)
    # It wants /run/sshd, which is there where a server of the machine's own runs.
    process = world.start("sshd", ["unshare", "-m", "sh", "-c",
                                   f"mount -t tmpfs none /run && mkdir /run/sshd && exec {shutil.which('sshd')} -D -e -f {folder}/sshd_config"])
    wait_for("sshd", lambda: is_listening(port), process)
    os.environ["BERTH_TEST_SSH"] = f"ssh://root@127.0.0.1:{port}{socket}"
    os.environ["BERTH_TEST_SSH_PATH"] = folder + "/bin"
