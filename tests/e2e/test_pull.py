"""adit pull, list, rm and cp, against a server that speaks the hub's protocol."""
import json
import os
import pty
import random
import select
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import make_certificate
from hub import Hub

MEGABYTE = 1 << 20


@pytest.fixture
def hub():
    started = Hub()
    yield started
    started.close()


@pytest.fixture
def env(hub, tmp_path):
    return {"HF_ENDPOINT": hub.url, "ADIT_MODELS": str(tmp_path / "models"), "HF_TOKEN_PATH": str(tmp_path / "token"),
            "HF_TOKEN": "", "TERM": "xterm"}


def noise(seed, size):
    return random.Random(seed).randbytes(size)


@pytest.fixture
def large(hub):
    data = noise(1, 6 * MEGABYTE + 12345)
    hub.add("org/big-GGUF", {"big-Q8_0.gguf": data, ".gitattributes": b"x", "README.md": b"hello"})
    return data


def pulled(adit, env, *arguments):
    return json.loads(adit.ok("pull", *arguments, "--json", env=env))


def contents(told):
    with open(told["path"], "rb") as file:
        return file.read()


def test_a_model_is_fetched_and_used_by_its_name(adit, hub, env, tiny_gguf):
    data = tiny_gguf.read_bytes()
    commit = hub.add("org/tiny-GGUF", {"tiny-F32.gguf": data, "README.md": b"hello"})
    told = pulled(adit, env, "org/tiny-GGUF:f32", "--alias", "little")
    assert (told["name"], told["commit"], told["size_bytes"]) == ("org/tiny-GGUF:F32", commit, len(data))
    assert told["fetched_bytes"] == len(data) and contents(told) == data
    assert pulled(adit, env, "org/tiny-GGUF")["fetched_bytes"] == 0
    wanted = adit.ok("tokenize", tiny_gguf, "abc")
    for name in ("org/tiny-GGUF", "org/tiny-GGUF:F32@main", "tiny-GGUF", "little", f"org/tiny-GGUF@{commit[:8]}"):
        assert adit.ok("tokenize", name, "abc", env=env) == wanted, name
    answer = adit.ok("run", "little", "abc", "--raw", "-n", "3", "--temp", "0", env=env)
    assert answer == adit.ok("run", tiny_gguf, "abc", "--raw", "-n", "3", "--temp", "0")
    message = adit.fails(3, "run", "org/other", "abc", env=env)
    assert "there are: org/tiny-GGUF:F32" in message and "adit pull" in message


def test_the_store_is_told_of_and_cleared(adit, hub, env, tmp_path, tiny_gguf):
    hub.add("org/a-GGUF", {"a-Q4_0.gguf": noise(1, 5000), "a-Q8_0.gguf": noise(2, 9000), "a-Q4_K_M.gguf": noise(3, 7000)})
    assert pulled(adit, env, "org/a-GGUF")["name"] == "org/a-GGUF:Q4_K_M"
    pulled(adit, env, "org/a-GGUF", "--quant", "Q8_0")
    adit.ok("cp", "org/a-GGUF:q8_0", "fine", env=env)
    told = json.loads(adit.ok("ls", "--json", env=env))
    assert [(m["name"], m["size_bytes"], m["aliases"]) for m in told["models"]] == [
        ("org/a-GGUF:Q4_K_M", 7000, []), ("org/a-GGUF:Q8_0", 9000, ["fine"])]
    text = adit.ok("list", env=env).decode()
    assert text.splitlines()[0].split()[:2] == ["NAME", "SIZE"] and "org/a-GGUF:Q8_0" in text and "fine" in text
    assert adit.ok("rm", "fine", env=env) == b"0 B freed\n"
    assert json.loads(adit.ok("rm", "org/a-GGUF:Q4_K_M", "org/a-GGUF:Q8_0", "--json", env=env)) == {"freed_bytes": 16000}
    assert not (tmp_path / "models/org").exists()
    assert "there is no model" in adit.fails(3, "rm", "org/a-GGUF", env=env)
    adit.fails(2, "rm", env=env)
    adit.fails(2, "cp", tiny_gguf, "a/b", env=env)


def test_what_there_is_is_said(adit, hub, env):
    hub.add("org/a-GGUF", {"a-Q4_0.gguf": noise(1, 5000), "a-Q2_K.gguf": noise(2, 5000)})
    hub.add("org/none", {"README.md": b"x"})
    message = adit.fails(3, "pull", "org/a-GGUF:Q6_K", env=env)
    assert "no quantisation 'Q6_K'; there are: Q2_K, Q4_0" in message
    assert "neither a GGUF file nor a folder" in adit.fails(3, "pull", "org/none", env=env)
    assert "no such revision" in adit.fails(3, "pull", "org/a-GGUF@v9", env=env)
    assert "no such model, or it needs a token in HF_TOKEN" in adit.fails(5, "pull", "org/unknown", env=env)
    for name in ("name", "../x", "a/../b", "a/b/c", "a/b:", "http://x/y"):
        assert "names no model" in adit.fails(2, "pull", name, env=env)
    assert "cannot connect" in adit.fails(5, "pull", "org/a-GGUF", env={**env, "HF_ENDPOINT": "http://127.0.0.1:9"})
    assert "HF_ENDPOINT" in adit.fails(2, "pull", "org/a-GGUF", env={**env, "HF_ENDPOINT": "hub"})


def test_parts_come_at_once_and_the_token_stays_with_the_hub(adit, hub, env, large):
    hub.tokens["org/big-GGUF"] = "secret"
    assert "HF_TOKEN" in adit.fails(5, "pull", "org/big-GGUF", env=env)
    hub.requests.clear()
    told = pulled(adit, {**env, "HF_TOKEN": "secret"}, "org/big-GGUF")
    assert contents(told) == large
    ranges = [request[3] for request in hub.requests if request[0] == "store"]
    assert len(ranges) == 7 and len(set(ranges)) == 7 and None not in ranges
    assert {request[2] for request in hub.requests if request[0] == "store"} == {None}
    assert {request[2] for request in hub.requests if request[0] == "hub"} == {"Bearer secret"}


def test_a_token_comes_from_its_file(adit, hub, env, large, tmp_path):
    hub.tokens["org/big-GGUF"] = "secret"
    (tmp_path / "token").write_text("wrong\n")
    assert "the token is not accepted" in adit.fails(5, "pull", "org/big-GGUF", env=env)
    (tmp_path / "token").write_text("secret\n")
    assert contents(pulled(adit, env, "org/big-GGUF")) == large


def test_a_gated_model_is_told_of(adit, hub, env, large):
    hub.gated.add("org/big-GGUF")
    message = adit.fails(5, "pull", "org/big-GGUF", env=env)
    assert "is gated" in message and "Access restricted" in message


def test_cuts_are_gone_on_from(adit, hub, env, large):
    hub.faults.cut_after["big-Q8_0.gguf"] = [300_000, 0, 10, 500_000, 1, 999_999]
    hub.faults.unavailable = 0
    told = pulled(adit, env, "org/big-GGUF")
    assert contents(told) == large
    begins = [int(request[3].split("=")[1].split("-")[0]) for request in hub.requests if request[0] == "store"]
    assert any(begin % MEGABYTE == 300_000 for begin in begins), "the part went on where it was cut"


def test_a_run_goes_on_where_another_was_killed(adit, hub, env, large, tmp_path):
    hub.faults.slow_bytes_per_s = MEGABYTE
    process = adit.start("pull", "org/big-GGUF", "--connections", "2", env=env)
    part = next_file(tmp_path / "models", "*.part.map", process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (130, b"") and b"goes on from here" in errors
    assert part.exists()
    hub.faults.slow_bytes_per_s = 0
    told = pulled(adit, env, "org/big-GGUF")
    assert contents(told) == large
    assert 0 < told["fetched_bytes"] < len(large), "what was there was not fetched again"
    assert not part.exists() and not list((tmp_path / "models").rglob("*.part"))


def next_file(folder, pattern, process):
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        found = list(folder.rglob(pattern))
        if found:
            return found[0]
        time.sleep(0.02)
    raise AssertionError(f"no {pattern}: {process.communicate(timeout=5)}")


def test_a_wrong_hash_is_no_model(adit, hub, env, large, tmp_path):
    hub.faults.wrong_hash.add("big-Q8_0.gguf")
    assert "another hash" in adit.fails(5, "pull", "org/big-GGUF", env=env)
    assert not list((tmp_path / "models").rglob("*.gguf*"))
    assert json.loads(adit.ok("list", "--json", env=env))["models"] == []
    hub.faults.wrong_hash.clear()
    told = pulled(adit, env, "org/big-GGUF")
    with open(told["path"], "r+b") as file:
        file.write(b"x")
    assert pulled(adit, env, "org/big-GGUF")["fetched_bytes"] == 0
    assert pulled(adit, env, "org/big-GGUF", "--verify")["fetched_bytes"] == len(large)
    assert contents(told) == large


def test_a_server_without_ranges_is_asked_for_all(adit, hub, env, large):
    hub.faults.ignore_ranges = True
    assert contents(pulled(adit, env, "org/big-GGUF")) == large


def test_a_busy_server_is_asked_again_and_a_dead_one_told_of(adit, hub, env, large):
    told = pulled(adit, env, "org/big-GGUF")
    adit.ok("rm", "org/big-GGUF", env=env)
    hub.faults.cut_after["big-Q8_0.gguf"] = [0] * 1000
    assert "cut off" in adit.fails(5, "pull", "org/big-GGUF", "--connections", "1", env=env)
    assert not os.path.exists(told["path"])


def test_split_files_come_together(adit, hub, env):
    files = {f"Q4_0/m-Q4_0-0000{i}-of-00003.gguf": noise(i, 3000) for i in (1, 2, 3)}
    hub.add("org/split", {**files, "m-Q8_0.gguf": noise(9, 2000)})
    hub.page = 2
    told = pulled(adit, env, "org/split:Q4_0")
    assert told["path"].endswith("Q4_0/m-Q4_0-00001-of-00003.gguf") and told["size_bytes"] == 9000
    folder = os.path.dirname(told["path"])
    assert {name: open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder)} == {
        os.path.basename(name): data for name, data in files.items()}


def test_folders_and_globs(adit, hub, env):
    files = {"config.json": b'{"a": 1}', "model.safetensors": noise(1, 4000), "tokenizer.json": noise(2, 2000),
             "pytorch_model.bin": noise(3, 4000), "a b/c+d.json": b"{}"}
    hub.add("org/folder", files)
    told = pulled(adit, env, "org/folder")
    assert sorted(os.listdir(told["path"])) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert told["name"] == "org/folder"
    told = pulled(adit, env, "org/folder", "--include", "*.bin", "--include", "a b/*")
    assert open(told["path"] + "/a b/c+d.json", "rb").read() == b"{}"
    assert os.path.getsize(told["path"] + "/pytorch_model.bin") == 4000


def test_a_hub_that_leads_elsewhere_gets_nowhere(adit, hub, env, tmp_path):
    hub.add("org/evil", {"../../evil-Q4_0.gguf": noise(1, 2000)})
    assert "no path of a file" in adit.fails(5, "pull", "org/evil", env=env)
    assert not list(tmp_path.rglob("evil*"))


def test_a_hub_must_show_a_certificate_that_is_trusted(adit, env, tmp_path, large):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    certificate, key = make_certificate(tmp_path, "hub", ["DNS:localhost"])
    hub = Hub(tls=(certificate, key))
    hub.add("org/big-GGUF", {"big-Q8_0.gguf": large})
    secure = {**env, "HF_ENDPOINT": hub.url}
    assert "self-signed certificate" in adit.fails(5, "pull", "org/big-GGUF", env=secure)
    trusting = {**secure, "SSL_CERT_FILE": str(certificate)}
    other = {**trusting, "HF_ENDPOINT": hub.url.replace("localhost", "127.0.0.1")}
    assert "127.0.0.1" in adit.fails(5, "pull", "org/big-GGUF", env=other).split("TLS: ")[1], "it is another's"
    assert contents(pulled(adit, trusting, "org/big-GGUF")) == large
    plain = Hub()
    hub.store_url = plain.url
    assert "without TLS" in adit.fails(5, "pull", "org/big-GGUF", "--verify", "--no-resume",
                                       env={**trusting, "ADIT_MODELS": str(tmp_path / "other")})
    hub.close()
    plain.close()


class Proxy:
    """Passes what is asked of it on to the local ports of `ports`, by host; `asked` has what that was."""

    def __init__(self, ports):
        self.ports = ports
        self.asked = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        line, rest = head.split(b"\r\n", 1)
        method, target, version = line.split(b" ")
        self.asked.append(f"{method.decode()} {target.decode()}")
        host = target.decode().removeprefix("http://").split("/")[0].split(":")[0]
        server = socket.create_connection(("127.0.0.1", self.ports[host]))
        if method == b"CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = b"/" + target.split(b"/", 3)[3]
            server.sendall(b" ".join([method, path, version]) + b"\r\n" + rest)
        threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
        self.pump(client, server)

    @staticmethod
    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def hidden(hub, scheme):
    """Makes the hub send to its store by a name that is known to its proxy alone. Returns the proxy's ports."""
    hub.store_url = f"{scheme}://store.invalid"
    return {f"{name}.invalid": server.server_address[1] for name, server in zip(["hub", "store"], hub.servers)}


def test_proxies_of_the_environment_are_used(adit, env, tmp_path, hub, large):
    proxy = Proxy(hidden(hub, "http"))
    behind = {**env, "HF_ENDPOINT": "http://hub.invalid", "http_proxy": proxy.url, "HF_TOKEN": "hf_secret"}
    assert contents(pulled(adit, behind, "org/big-GGUF")) == large
    assert any(line.startswith("GET http://hub.invalid/api/models/org/big-GGUF") for line in proxy.asked)
    assert any(line.startswith("GET http://store.invalid/") for line in proxy.asked)
    past = {**behind, "no_proxy": "invalid", "ADIT_MODELS": str(tmp_path / "other")}
    assert "no such host" in adit.fails(5, "pull", "org/big-GGUF", env=past)


def test_tls_goes_through_a_proxy(adit, env, tmp_path, large):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    certificate = make_certificate(tmp_path, "hub", ["DNS:hub.invalid", "DNS:store.invalid"])
    hub = Hub(tls=certificate)
    hub.add("org/big-GGUF", {"big-Q8_0.gguf": large})
    proxy = Proxy(hidden(hub, "https"))
    behind = {**env, "HF_ENDPOINT": "https://hub.invalid", "https_proxy": proxy.url, "SSL_CERT_FILE": str(certificate[0])}
    assert contents(pulled(adit, behind, "org/big-GGUF")) == large
    assert set(proxy.asked) == {"CONNECT hub.invalid:443", "CONNECT store.invalid:443"}
    hub.close()


def test_two_revisions_stand_beside_each_other(adit, hub, env):
    hub.add("org/a", {"a-Q4_0.gguf": noise(1, 2000)})
    hub.add("org/a", {"a-Q4_0.gguf": noise(2, 2001)}, revision="refs/pr/1")
    first = pulled(adit, env, "org/a")
    second = pulled(adit, env, "org/a@refs/pr/1")
    assert first["path"] != second["path"] and os.path.getsize(first["path"]) == 2000


def test_a_bar_shows_rate_and_time_left(adit, hub, env, large):
    hub.faults.slow_bytes_per_s = MEGABYTE
    terminal, program = pty.openpty()
    process = subprocess.Popen([adit.binary, "pull", "org/big-GGUF", "--connections", "2"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=program, env=adit.environment(env))
    os.close(program)
    drawn = b""
    end = time.monotonic() + 30
    while time.monotonic() < end and b"left" not in drawn:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                drawn += os.read(terminal, 4096)
            except OSError:
                break
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    os.close(terminal)
    assert b"Pulling  [" in drawn and b"MiB/s" in drawn and b" left" in drawn
