#!/usr/bin/env python3
"""What HTTP and JSON cost beside the engine: time to first token over HTTP against the engine's own, and the share of
the processor that the server's HTTP threads take while streams run.

    bench/server_overhead.py MODEL [--adit build/release/adit] [--streams 16] [--tokens 200] [--requests 40]

Starts a server of its own. Prints one JSON object.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_by_thread(pid):
    """{(name, thread): seconds}"""
    seconds = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            text = (task / "stat").read_text()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        fields = text[text.rindex(")") + 2:].split()
        seconds[(name, task.name)] = (int(fields[11]) + int(fields[12])) / TICKS
    return seconds


def post(port, body):
    text = json.dumps(body).encode()
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    begin = time.perf_counter()
    client.sendall(head % len(text) + text)
    return client, begin


def first_token(port, body):
    """(seconds to the first event over HTTP, the engine's own seconds to its first token)"""
    client, begin = post(port, body)
    raw = b""
    while b"data: " not in raw:
        raw += client.recv(65536)
    seen = time.perf_counter() - begin
    while more := client.recv(65536):
        raw += more
    client.close()
    own = 0.0
    for line in raw.split(b"\n"):
        if line.startswith(b"data: {") and b'"timings"' in line:
            timings = json.loads(line[6:])["timings"]
            own = (timings["queue_ms"] + timings["prompt_ms"]) / 1e3
    return seen, own


def drain(port, body):
    client, _ = post(port, body)
    while client.recv(1 << 16):
        pass
    client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--adit", default="build/release/adit")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--requests", type=int, default=40)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    server = subprocess.Popen([args.adit, "serve", args.model, "--port", "0", "--port-file", folder / "port", "--kv-tokens",
                               "32768"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (folder / "port").exists():
            time.sleep(0.05)
        port = int((folder / "port").read_text())
        prompt = {"prompt": "The sky is blue because", "max_tokens": 4, "ignore_eos": True, "stream": True, "timings": True}
        while True:
            try:
                drain(port, prompt)
                if first_token(port, prompt)[1] > 0:
                    break
            except OSError:
                pass
            time.sleep(0.2)
        times = [first_token(port, {**prompt, "cache_salt": str(i)}) for i in range(args.requests)]
        over = sorted((seen - own) * 1e3 for seen, own in times)

        before, begin = cpu_by_thread(server.pid), time.perf_counter()
        body = {**prompt, "max_tokens": args.tokens}
        clients = [threading.Thread(target=drain, args=(port, {**body, "cache_salt": f"s{i}"})) for i in range(args.streams)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        seconds, after = time.perf_counter() - begin, cpu_by_thread(server.pid)
        used = {key: after[key] - before.get(key, 0.0) for key in after}
        http = sum(value for (name, _), value in used.items() if name == "adit-http")
        print(json.dumps({
            "requests": args.requests,
            "ttft_http_ms_p50": round(statistics.median(seen for seen, _ in times) * 1e3, 3),
            "ttft_engine_ms_p50": round(statistics.median(own for _, own in times) * 1e3, 3),
            "overhead_ms_p50": round(statistics.median(over), 3),
            "overhead_ms_p90": round(over[int(0.9 * (len(over) - 1))], 3),
            "streams": args.streams,
            "seconds": round(seconds, 2),
            "tokens_per_s": round(args.streams * args.tokens / seconds, 1),
            "cpu_seconds": round(sum(used.values()), 2),
            "http_cpu_share_percent": round(100 * http / max(sum(used.values()), 1e-9), 2),
        }, indent=1))
    finally:
        server.terminate()
        server.wait()


main()
