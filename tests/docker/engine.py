"""The Engine API, as far as the tests' own daemon needs it: for building images, without any docker program."""

import base64
import http.client
import json
import socket


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Engine:
    def __init__(self, path):
        self.path = path

    def ask(self, method, target, body=None, headers=None):
        """The reply's bytes; raises RuntimeError with the daemon's text for a failure, also one inside of a good reply."""
        connection = UnixConnection(self.path)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            reply = connection.getresponse()
            data = reply.read()
        finally:
            connection.close()
        if reply.status >= 400 or b'"errorDetail"' in data:
            raise RuntimeError(f"{method} {target}: {reply.status} {data[-500:]!r}")
        return data

    def is_up(self):
        try:
            return self.ask("GET", "/_ping") == b"OK"
        except (OSError, RuntimeError, http.client.HTTPException):
            return False

    def import_image(self, name, tar, changes=()):
        repo, _, tag = name.rpartition(":")
        query = f"/images/create?fromSrc=-&repo={repo}&tag={tag}"
        for each in changes:
            query += "&changes=" + each.replace(" ", "%20").replace('"', "%22").replace("[", "%5B").replace("]", "%5D")
        self.ask("POST", query, body=tar, headers={"Content-Type": "application/x-tar"})

    def load(self, archive):
        self.ask("POST", "/images/load?quiet=1", body=archive, headers={"Content-Type": "application/x-tar"})

    def push(self, name, registry, login=None):
        """Gives the image its name in the registry and sends it there."""
        repo, _, tag = name.rpartition(":")
        self.ask("POST", f"/images/{name}/tag?repo={registry}/{repo}&tag={tag}")
        auth = base64.urlsafe_b64encode(json.dumps(login or {}).encode()).decode()
        self.ask("POST", f"/images/{registry}/{repo}/push?tag={tag}", headers={"X-Registry-Auth": auth})
        self.ask("DELETE", f"/images/{registry}/{repo}:{tag}")
