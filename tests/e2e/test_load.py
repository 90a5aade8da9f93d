"""adit serve under load: many streams, clients that go, full disks. Afterwards every page, thread and byte is back.

Short forms by default. ADIT_LOAD_S=600 is how long the streams run, ADIT_SOAK_S=1800 how long the soak does.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import threading
import time

import pytest
from server import Server, events, vanish

LOAD_S = float(os.environ.get("ADIT_LOAD_S", 5))
SOAK_S = float(os.environ.get("ADIT_SOAK_S", 0))


@pytest.fixture(scope="module")
def server(adit, tiny_gguf, tmp_path_factory):
    """A model so small that the server itself is what is loaded."""
    with Server(adit, tiny_gguf, tmp_path_factory.mktemp("load"), "--threads", "1", "--kv-tokens", "16384",
                "--max-queued-requests", "4096", "--no-access-log") as started:
        yield started.wait_ready()


def threads(server):
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def settle(server):
    """Waits until nothing is held; the figures of what is left."""
    server.wait(server.idle, "requests still run", 60)
    server.ask("POST", "/admin/cache/flush")
    server.json("POST", "/v1/completions", {"prompt": "a", "max_tokens": 1})

    def empty():
        # What was sent before its client vanished may still be on its way in, and is cached when it ends.
        server.ask("POST", "/admin/cache/flush")
        cache = server.json("GET", "/admin/cache")
        return cache["held"] == 0 and cache["free"] == cache["pages"]
    server.wait(empty, "pages are still held", 20)
    return threads(server)


def stream(server, seed):
    """One whole stream, checked."""
    rng = random.Random(seed)
    body = {"prompt": "ab" * rng.randrange(1, 40), "max_tokens": rng.randrange(2, 40), "ignore_eos": True, "seed": seed,
            "stream": True, "stream_options": {"include_usage": True}}
    status, _, raw = server.ask("POST", "/v1/completions", body)
    assert status == 200, raw
    chunks = events(raw)
    assert chunks[-1] == "[DONE]" and chunks[-2]["usage"]["completion_tokens"] == body["max_tokens"]
    return "".join(chunk["choices"][0]["text"] for chunk in chunks[:-1] if chunk["choices"])


def run_streams(server, seconds, count=64):
    end = time.monotonic() + seconds
    done = [0] * count

    def client(i):
        while time.monotonic() < end:
            stream(server, i * 1_000_003 + done[i])
            done[i] += 1

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(client, range(count)))
    return sum(done)


def test_64_streams(server):
    expected = stream(server, 7)
    before = settle(server)
    run_streams(server, min(2.0, LOAD_S))
    resident = server.resident_bytes()
    assert run_streams(server, LOAD_S) >= 64
    assert stream(server, 7) == expected
    assert settle(server) == before
    # Pools of the allocator fill up in the first minutes; then it is flat.
    assert server.resident_bytes() < resident * 1.02 + (4 << 20)


def test_a_thousand_connects_that_vanish(server):
    rng = random.Random(3)
    before = settle(server)
    text = json.dumps({"prompt": "ab" * 20, "max_tokens": 60, "ignore_eos": True, "stream": True}).encode()
    request = (b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
               % len(text)) + text
    resident = 0

    def one(seed):
        mine = random.Random(seed)
        client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        # Some go in the middle of what they say, some while they wait or are told.
        said = request if mine.random() < 0.6 else request[:mine.randrange(len(request))]
        if said:
            client.sendall(said)
        if mine.random() < 0.5:
            time.sleep(mine.random() * 0.02)
        if mine.random() < 0.3 and len(said) == len(request):
            client.recv(mine.randrange(1, 400))
        if mine.random() < 0.5:
            vanish(client)
        else:
            client.close()

    for half in range(2):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(one, [rng.randrange(1 << 30) for _ in range(500)]))
        assert settle(server) == before
        if half == 0:
            resident, opened = server.resident_bytes(), descriptors(server)
    assert server.resident_bytes() < resident * 1.02 + (4 << 20)
    server.wait(lambda: descriptors(server) <= opened + 2, "descriptors are still open", 20)


def test_load_generators_that_are_killed(server, adit):
    before = settle(server)
    for seed in range(3):
        clients = [adit.start("bench", "serve", "--url", server.url, "--endpoint", "completions", "--num-prompts", "5000",
                              "--max-concurrency", "16", "--token-ids", "200", "--input-len", "20", "--output-len", "100",
                              "--seed", str(seed))
                   for _ in range(2)]
        server.wait(lambda: server.json("GET", "/load")["requests"] >= 16, "no load")
        time.sleep(0.1)
        for client in clients:
            client.send_signal(signal.SIGKILL)
            client.wait(30)
        assert settle(server) == before


def test_two_thousand_idle_streams(adit, smollm2, tmp_path):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 5000:
        pytest.skip("not enough descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 20000), most))
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "8192", "--ctx", "2048", "--max-num-seqs", "4",
                "--max-queued-requests", "4096", "--no-access-log") as server:
        server.wait_ready()

        def rate(seconds=1.5):
            tokens, begin = server.metric("adit_generation_tokens_total"), time.monotonic()
            time.sleep(seconds)
            return (server.metric("adit_generation_tokens_total") - tokens) / (time.monotonic() - begin)

        endless = {"prompt": "a", "max_tokens": 1900, "ignore_eos": True, "stream": True}
        clients = [server.post("/v1/completions", endless) for _ in range(4)]
        server.wait(lambda: server.json("GET", "/load")["running"] == 4, "they do not run")
        alone, before, resident = rate(), threads(server), server.resident_bytes()
        # These wait for their turn, which does not come.
        clients += [server.post("/v1/completions", endless) for _ in range(2000)]
        server.wait(lambda: server.json("GET", "/load")["waiting"] == 2000, "they do not come", 60)
        grown, beside = server.resident_bytes() - resident, rate()
        print(f"2,000 idle streams: {grown / 1e6:.1f} MB; {alone:.0f} tokens/s without, {beside:.0f} with them")
        assert grown < 60e6 and threads(server) == before
        for client in clients:
            vanish(client)
        assert settle(server) == before


def test_a_full_disk_for_what_is_stored(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--threads", "1", "--kv-tokens", "2048", "--file-dir", tmp_path / "files",
                "--chat-template", template(tmp_path)) as server:
        server.wait_ready()
        # No file may grow beyond 4 KB from now on: to a writer that is a full disk.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        status, _, raw = server.ask("POST", "/v1/responses", {"input": "x" * 6000, "max_output_tokens": 2})
        assert (status, json.loads(raw)["error"]["code"]) == (507, "insufficient_storage")
        assert server.ask("POST", "/v1/responses", {"input": "x", "max_output_tokens": 2})[0] == 200
        assert server.ask("POST", "/v1/responses", {"input": "xy", "max_output_tokens": 2, "store": False})[0] == 200
        status, file = upload(server, b"x" * 9000)
        assert (status, file["error"]["code"]) == (507, "insufficient_storage")
        lines = "".join(json.dumps({"custom_id": str(i), "method": "POST", "url": "/v1/completions",
                                    "body": {"prompt": "a", "max_tokens": 2}}) + "\n" for i in range(25))
        status, file = upload(server, lines.encode())
        assert status == 200, file
        batch = server.json("POST", "/v1/batches", {"input_file_id": file["id"], "endpoint": "/v1/completions",
                                                    "completion_window": "24h"})
        ended = lambda: server.json("GET", "/v1/batches/" + batch["id"])["status"] in ("failed", "completed")
        server.wait(ended, "the batch does not end", 60)
        batch = server.json("GET", "/v1/batches/" + batch["id"])
        assert batch["status"] == "failed" and batch["errors"]["data"][0]["code"] == "insufficient_storage"
        kept = server.ask("GET", f"/v1/files/{batch['output_file_id']}/content")[2].decode().splitlines()
        assert 0 < len(kept) < 25 and all(json.loads(line) for line in kept), "whole lines"
        assert server.ask("GET", "/health")[0] == 200
        assert server.json("POST", "/v1/completions", {
            "prompt": "a", "max_tokens": 2, "ignore_eos": True})["usage"]["completion_tokens"] == 2
        assert server.stop() == 0


def template(folder):
    path = folder / "template.jinja"
    path.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    return path


def upload(server, content):
    body = (b"--B\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"
            b"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n" + content + b"\r\n--B--\r\n")
    status, _, raw = server.ask("POST", "/v1/files", body, {"Content-Type": "multipart/form-data; boundary=B"})
    return status, json.loads(raw)


@pytest.mark.skipif(SOAK_S == 0, reason="ADIT_SOAK_S says how long")
def test_a_soak(server):
    """Everything at once; after a tenth of the time to warm up, memory grows by less than a hundredth."""

    def part(seconds):
        """What the process holds when all have gone."""
        stop = threading.Event()

        def goers():
            rng = random.Random(5)
            while not stop.is_set():
                client = server.post("/v1/completions", {"prompt": "ab" * rng.randrange(1, 20), "max_tokens": 80,
                                                         "ignore_eos": True, "stream": True})
                time.sleep(rng.random() * 0.05)
                vanish(client)

        thread = threading.Thread(target=goers)
        thread.start()
        try:
            run_streams(server, seconds, 32)
        finally:
            stop.set()
            thread.join()
        assert settle(server) == before
        return server.resident_bytes()

    before = settle(server)
    samples = []
    for _ in range(10):
        samples.append(part(SOAK_S / 10))
        print(f"resident {samples[-1] / 1e6:.1f} MB", flush=True)
    assert max(samples[1:]) < samples[0] * 1.01 + (1 << 20)
