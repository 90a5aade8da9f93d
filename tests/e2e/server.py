"""A server under test, and a plain client of it."""
import http.client
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time

START_S = 120  # a sanitized build on a busy machine is slow


class Server:
    def __init__(self, adit, model, folder, *flags, env=None):
        folder = pathlib.Path(folder)
        self.log = folder / "server.log"
        port_file = folder / "port"
        self.process = subprocess.Popen(
            [adit.binary, "serve", str(model), "--port", "0", "--port-file", str(port_file), *map(str, flags)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.log, "wb"),
            env=adit.environment(env))
        self.wait(port_file.exists, "no port file")
        self.port = int(port_file.read_text())
        self.url = f"http://127.0.0.1:{self.port}"

    def wait(self, what, why, seconds=START_S):
        end = time.monotonic() + seconds
        while not what():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, why + "\n" + self.log.read_text()
            time.sleep(0.02)

    def wait_ready(self, headers={}):
        self.wait(lambda: self.ask("GET", "/health", headers=headers)[0] == 200, "never ready")
        return self

    def connect(self, timeout):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers={}, timeout=60):
        """(status, headers, body) of one request; a body that is no bytes goes as JSON."""
        connection = self.connect(timeout)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
                headers = {"Content-Type": "application/json", **headers}
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, headers={}):
        return json.loads(self.ask(method, path, body, headers)[2])

    def send(self, raw):
        """A socket to which `raw` has been sent."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        client.sendall(raw)
        return client

    def post(self, path, body):
        text = json.dumps(body).encode()
        return self.send(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" %
                         (path.encode(), len(text)) + text)

    def idle(self):
        load = self.json("GET", "/load")
        return load["running"] == 0 and load["waiting"] == 0 and load["requests"] == 0

    def metric(self, name):
        text = self.ask("GET", "/metrics")[2].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))

    def resident_bytes(self):
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def stop(self, number=signal.SIGTERM, seconds=60):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def vanish(client):
    """Ends a connection by a reset."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def events(raw):
    """The data of server-sent events; comments are left out."""
    data = []
    for event in raw.decode().split("\n\n")[:-1]:
        if event.startswith(":"):
            continue
        assert event.startswith("data: "), event
        data.append(event[6:] if event == "data: [DONE]" else json.loads(event[6:]))
    return data
