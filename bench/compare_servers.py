#!/usr/bin/env python3
"""adit serve beside another server of OpenAI's interface on the same model file: chats that share a system prompt of 400
tokens, 64 output tokens each, asked of both in turns by adit bench serve.

    bench/compare_servers.py MODEL --python PYTHON [--adit build/release/adit] [--clients 8,16] [--rounds 3]
    bench/compare_servers.py MODEL --vs http://127.0.0.1:8080 ...

--python: a Python that has llama-cpp-python[server], which is then started; --vs: a server that runs already, such as
llama-server. Prints a table for each number of clients.
"""
import argparse
import json
import os
import pathlib
import shlex
import socket
import subprocess
import tempfile
import time
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(url):
    while True:
        try:
            with urllib.request.urlopen(url + "/v1/models", timeout=2) as response:
                if b'"loading"' not in response.read():
                    return
        except OSError:
            pass
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--python")
    parser.add_argument("--vs")
    parser.add_argument("--adit", default="build/release/adit")
    parser.add_argument("--clients", default="8,16")
    parser.add_argument("--per-client", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--serve-flags", default="", help="more flags of adit serve, in one argument")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if not args.python and not args.vs:
        parser.error("--python or --vs")
    port = free_port()
    log = open(pathlib.Path(tempfile.mkdtemp()) / "log", "wb")
    processes = [subprocess.Popen([args.adit, "serve", args.model, "--port", str(port), "--threads", str(args.threads),
                                   "--no-access-log", *shlex.split(args.serve_flags)], stderr=log)]
    url, other = f"http://127.0.0.1:{port}", args.vs
    try:
        if not other:
            port = free_port()
            other = f"http://127.0.0.1:{port}"
            # It answers one request at a time; by default a new one would interrupt the one that is under way.
            processes.append(subprocess.Popen(
                [args.python, "-m", "llama_cpp.server", "--model", args.model, "--port", str(port), "--n_ctx", "2048",
                 "--n_threads", str(args.threads), "--n_threads_batch", str(args.threads), "--interrupt_requests", "false"],
                stdout=log, stderr=log))
        wait(url)
        wait(other)
        for clients in map(int, args.clients.split(",")):
            # Not all know ignore_eos: the tokens that end an answer of this model are forbidden.
            done = subprocess.run(
                [args.adit, "bench", "serve", "--url", url, "--vs", other, "--num-prompts", str(clients * args.per_client),
                 "--max-concurrency", str(clients), "--shared-prefix", "400", "--input-len", "12", "--output-len", "64",
                 "--repeat", str(args.rounds), "--extra-body", '{"logit_bias": {"2": -100, "0": -100}}', "-o",
                 "json" if args.json else "md"], stdout=subprocess.PIPE, check=True)
            text = done.stdout.decode()
            print(f"## {clients} clients\n\n{text}" if not args.json else json.dumps(json.loads(text)))
    finally:
        for process in processes:
            process.terminate()
            process.wait()


main()
