"""adit serve under TLS: what clients see, and certificates that change."""
import http.client
import shutil
import signal
import socket
import ssl
import time

import pytest
from conftest import make_certificate
from server import Server

if not shutil.which("openssl"):
    pytest.skip("openssl is not installed", allow_module_level=True)


class TlsServer(Server):
    """A server that is asked by HTTPS."""

    def __init__(self, adit, model, folder, context, *flags):
        self.context = context
        super().__init__(adit, model, folder, *flags)

    def connect(self, timeout):
        return http.client.HTTPSConnection("localhost", self.port, timeout=timeout, context=self.context)

    def name(self, context=None):
        """Of whom the certificate is."""
        with socket.create_connection(("localhost", self.port), timeout=20) as bare:
            with (context or self.context).wrap_socket(bare, server_hostname="localhost") as client:
                return dict(entry[0] for entry in client.getpeercert()["subject"])["organizationName"]


def make(folder, name, organization):
    return make_certificate(folder, name, ["DNS:localhost", "IP:127.0.0.1"], organization)


def trusting(*certificates):
    context = ssl.create_default_context()
    for certificate in certificates:
        context.load_verify_locations(certificate)
    return context


def test_requests_and_streams(adit, smollm2, tmp_path):
    certificate, key = make(tmp_path, "server", "first")
    with TlsServer(adit, smollm2, tmp_path, trusting(certificate), "--tls-cert", certificate, "--tls-key", key,
                   "--kv-tokens", "4096") as server:
        server.wait_ready()
        status, _, raw = server.ask("POST", "/v1/completions",
                                    {"prompt": "a b c", "max_tokens": 40, "temperature": 0, "ignore_eos": True, "stream": True})
        assert status == 200 and raw.endswith(b"data: [DONE]\n\n") and raw.count(b"data: ") > 20
        # A body of many records.
        status, _, raw = server.ask("POST", "/tokenize", {"prompt": "word " * 200000})
        assert status == 200 and raw.startswith(b'{"count":2000')
        # Several requests in one connection.
        connection = server.connect(20)
        for _ in range(3):
            connection.request("GET", "/health")
            assert connection.getresponse().read()
        connection.close()
        # Who speaks no TLS, or an old one, gets nothing, and others are served on.
        plain = server.send(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert not plain.recv(1000).startswith(b"HTTP")
        plain.close()
        old = trusting(certificate)
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises((ssl.SSLError, OSError)):
            server.name(old)
        # A client that goes is noticed.
        with socket.create_connection(("localhost", server.port), timeout=20) as bare:
            client = server.context.wrap_socket(bare, server_hostname="localhost")
            body = b'{"prompt": "a", "max_tokens": 4000, "ignore_eos": true, "stream": true}'
            client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            assert client.recv(10)
            client.close()
        server.wait(server.idle, "the request of a client that went runs on", 20)
        assert server.stop() == 0


def test_certificates_are_read_again(adit, tiny_gguf, tmp_path):
    certificate, key = make(tmp_path, "server", "first")
    second, second_key = make(tmp_path, "second", "second")
    third, third_key = make(tmp_path, "third", "third")
    context = trusting(certificate, second, third)
    with TlsServer(adit, tiny_gguf, tmp_path, context, "--tls-cert", certificate, "--tls-key", key) as server:
        server.wait_ready()
        assert server.name() == "first"
        certificate.write_text("nonsense")
        time.sleep(1.1)
        assert server.name() == "first", "files that are wrong change nothing"
        shutil.copy(second_key, key)
        shutil.copy(second, certificate)
        server.wait(lambda: server.name() == "second", "the change was not seen", 20)
        shutil.copy(third_key, key)
        shutil.copy(third, certificate)
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.name() == "third", "the signal did nothing", 20)
        server.wait(lambda: "SIGHUP: certificates are read again" in server.log.read_text(), "not logged", 20)
        assert server.ask("GET", "/health")[0] == 200


def test_clients_show_certificates(adit, tiny_gguf, tmp_path):
    certificate, key = make(tmp_path, "server", "first")
    client, client_key = make(tmp_path, "client", "client")
    stranger, stranger_key = make(tmp_path, "stranger", "stranger")
    context = trusting(certificate)
    context.load_cert_chain(client, client_key)
    with TlsServer(adit, tiny_gguf, tmp_path, context, "--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", client) as server:
        server.wait_ready()
        for files in ((), (stranger, stranger_key)):
            other = trusting(certificate)
            if files:
                other.load_cert_chain(*files)
            connection = http.client.HTTPSConnection("localhost", server.port, timeout=20, context=other)
            with pytest.raises((ssl.SSLError, OSError)):
                connection.request("GET", "/health")
                connection.getresponse()
            connection.close()
        assert server.ask("GET", "/health")[0] == 200


def test_wrong_files(adit, tiny_gguf, tmp_path):
    certificate, key = make(tmp_path, "server", "first")
    _, other_key = make(tmp_path, "other", "other")
    for flags, hint in [(("--tls-cert", certificate), "belong together"), (("--tls-key", key), "belong together"),
                        (("--tls-client-ca", certificate), "needs --tls-cert"),
                        (("--tls-cert", certificate, "--tls-key", other_key), "key"),
                        (("--tls-cert", tmp_path / "none", "--tls-key", key), "certificate"),
                        (("--tls-cert", key, "--tls-key", key), "certificate")]:
        assert hint in adit.fails(2, "serve", tiny_gguf, "--port", "0", *flags)
