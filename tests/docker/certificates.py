"""Certificates for a daemon on loopback and for its clients, made by openssl(1)."""

import os
import subprocess


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_authority(directory):
    os.makedirs(directory)
    key, certificate = os.path.join(directory, "ca-key.pem"), os.path.join(directory, "ca.pem")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=berth test authority", "-keyout", key, "-out", certificate)
    return certificate, key


def make_identity(directory, authority, name, extensions):
    """cert.pem and key.pem in the directory, with the authority's ca.pem beside them."""
    os.makedirs(directory, exist_ok=True)
    certificate, key = authority
    path = lambda file: os.path.join(directory, file)
    with open(path("extensions"), "w") as out:
        out.write(extensions + "\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
            "-keyout", path("key.pem"), "-out", path("request.pem"))
    openssl("x509", "-req", "-in", path("request.pem"), "-CA", certificate, "-CAkey", key, "-CAcreateserial",
            "-days", "2", "-extfile", path("extensions"), "-out", path("cert.pem"))
    with open(certificate) as source, open(path("ca.pem"), "w") as out:
        out.write(source.read())


def make_both(directory):
    """Directories of a server on 127.0.0.1 and of a client, by one authority."""
    authority = make_authority(directory)
    server, client = os.path.join(directory, "server"), os.path.join(directory, "client")
    make_identity(server, authority, "127.0.0.1", "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth")
    make_identity(client, authority, "berth test", "extendedKeyUsage=clientAuth")
    return server, client
