"""Images for the tests, made of what this machine has: nothing is fetched."""

import hashlib
import io
import json
import os
import subprocess
import tarfile

PASSWD = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
GROUP = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"
DEBIAN_PACKAGES = ["bash", "coreutils", "python3-minimal", "procps", "util-linux", "make", "findutils", "grep", "sed", "base-files"]


class Root:
    """The tree of an image, as a tar in memory."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w")
        self.names = set()

    def directory(self, name, mode=0o755, owner=0):
        if name in self.names:
            return
        self.names.add(name)
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
        self.tar.addfile(info)

    def text(self, name, content, mode=0o644):
        info = tarfile.TarInfo(name)
        data = content.encode()
        info.size, info.mode = len(data), mode
        self.tar.addfile(info, io.BytesIO(data))

    def link(self, name, target):
        if name in self.names:
            return
        self.names.add(name)
        info = tarfile.TarInfo(name)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self.tar.addfile(info)

    def file(self, name, source):
        """As it is on this machine, links as links."""
        if name in self.names:
            return
        self.names.add(name)
        info = self.tar.gettarinfo(source, name)
        if info is None:
            return
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        if info.isreg():
            with open(source, "rb") as content:
                self.tar.addfile(info, content)
        elif info.isdir() or info.issym():
            self.tar.addfile(info)

    def usual(self):
        for name in ["bin", "etc", "root", "proc", "dev", "sys", "home", "var", "usr"]:
            self.directory(name)
        self.directory("home/user", owner=1000)
        self.directory("tmp", 0o1777)
        self.text("etc/passwd", PASSWD)
        self.text("etc/group", GROUP)

    def finish(self):
        self.tar.close()
        return self.bytes.getvalue()


def busybox():
    root = Root()
    root.usual()
    root.file("bin/busybox", os.path.realpath("/bin/busybox"))
    for applet in subprocess.check_output(["/bin/busybox", "--list"], text=True).split():
        root.link("bin/" + applet, "busybox")
    return root.finish()


def text_only():
    """Nothing that runs, and no other image has it."""
    root = Root()
    root.text("text", os.urandom(50000).hex())
    return root.finish()


def scratch():
    """One static program, and nothing else: no shell, no /tmp, no users."""
    root = Root()
    root.file("busybox", os.path.realpath("/bin/busybox"))
    return root.finish()


def archive(name, layer, architecture):
    """An image as `docker save` writes it; an import cannot say the architecture."""
    config = json.dumps({
        "architecture": architecture, "os": "linux", "config": {"Cmd": ["/busybox"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    }).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    root = Root()
    for member, content in [("config.json", config), ("layer.tar", layer), ("manifest.json", manifest)]:
        info = tarfile.TarInfo(member)
        info.size = len(content)
        root.tar.addfile(info, io.BytesIO(content))
    return root.finish()


def closure(packages):
    """The packages with all that they depend on, of those that are installed here."""
    text = subprocess.check_output(["dpkg-query", "-W", "-f", "${Package}\t${Pre-Depends}, ${Depends}\n"], text=True)
    needs = {}
    for line in text.splitlines():
        name, _, all_needs = line.partition("\t")
        words = [each.split("|")[0].split("(")[0].split(":")[0].strip() for each in all_needs.split(",")]
        needs.setdefault(name, [word for word in words if word])
    found, left = [], list(packages)
    while left:
        name = left.pop()
        if name in needs and name not in found:
            found.append(name)
            left += needs[name]
    return found


def debian():
    """bash, python3 and make with their libraries, as this machine has them."""
    root = Root()
    for name in ["etc", "root", "proc", "dev", "sys", "home", "var", "usr", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"]:
        root.directory(name)
    for name, target in [("bin", "usr/bin"), ("sbin", "usr/sbin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")]:
        root.link(name, target)
    root.directory("home/user", owner=1000)
    root.directory("tmp", 0o1777)
    root.text("etc/passwd", PASSWD)
    root.text("etc/group", GROUP)
    for package in closure(DEBIAN_PACKAGES):
        for path in subprocess.check_output(["dpkg-query", "-L", package], text=True).splitlines():
            add_installed(root, path)
    for name in ["usr/bin/sh", "usr/bin/awk"]:
        if name not in root.names and os.path.lexists("/" + name):
            root.file(name, os.path.realpath("/" + name))
    return root.finish()


def add_installed(root, path):
    unwanted = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/etc/", "/var/", "/usr/share/zoneinfo")
    if path.startswith(unwanted) or path in ("/", "/."):
        return
    for merged in ("/bin/", "/sbin/", "/lib/", "/lib64/"):
        if path.startswith(merged):
            path = "/usr" + path
    name = path.lstrip("/")
    if name in ("bin", "sbin", "lib", "lib64", "etc", "var") or not os.path.lexists(path):
        return
    root.file(name, path)
