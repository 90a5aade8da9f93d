"""adit serve: what it is like for clients that know nothing but HTTP, and for whoever runs it."""
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from server import Server, events, vanish

QUESTION = {"messages": [{"role": "user", "content": "What is the capital of France?"}], "temperature": 0}


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--alias", "default",
                "--max-num-seqs", "8", "--kv-tokens", "16384") as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def slow_server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("slow"), "--threads", "1",
                "--max-num-seqs", "4", "--kv-tokens", "8192", "--ctx", "2048") as started:
        yield started.wait_ready()


def text_of(body):
    return body["choices"][0]["message"]["content"]


def test_a_chat(server, adit):
    body = server.json("POST", "/v1/chat/completions", {**QUESTION, "max_tokens": 30})
    assert "Paris" in text_of(body)
    answer = adit.ok("run", server.process.args[2], QUESTION["messages"][0]["content"], "--temp", "0", "-n", "30")
    assert answer.decode().rstrip("\n") == text_of(body).rstrip("\n")


def test_a_stream(server):
    asked = {**QUESTION, "max_tokens": 20, "stream": True}
    whole = server.json("POST", "/v1/chat/completions", {**asked, "stream": False})
    for options, has_usage in [(None, False), ({"include_usage": False}, False), ({"include_usage": True}, True)]:
        status, headers, raw = server.ask("POST", "/v1/chat/completions", {**asked, "stream_options": options})
        assert (status, headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
        chunks = events(raw)
        assert chunks[-1] == "[DONE]" and chunks.count("[DONE]") == 1
        usages = [chunk for chunk in chunks[:-1] if chunk.get("usage")]
        assert len(usages) == has_usage and (not has_usage or usages[0] == chunks[-2])
        if has_usage:
            assert usages[0]["choices"] == []
            assert usages[0]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
        deltas = [chunk["choices"][0] for chunk in chunks[:-1] if chunk["choices"]]
        assert deltas[0]["delta"] == {"role": "assistant", "content": ""}
        assert [d["finish_reason"] for d in deltas if d["finish_reason"]] == [whole["choices"][0]["finish_reason"]]
        assert "".join(d["delta"].get("content", "") for d in deltas) == text_of(whole)
        assert len({(chunk["id"], chunk["created"]) for chunk in chunks[:-1]}) == 1


def test_characters_are_never_cut(server):
    ids = server.json("POST", "/tokenize", {"prompt": "\U0001F600!", "add_special_tokens": False})["tokens"]
    assert len(ids) == 4, "three tokens spell the emoji"
    # Each of them once, in this order.
    forced = {"prompt": "x", "temperature": 0, "allowed_token_ids": ids, "no_repeat_ngram_size": 1,
              "logit_bias": {str(token): 100 - 50 * i for i, token in enumerate(ids)}}
    for max_tokens in range(1, 5):
        asked = {**forced, "max_tokens": max_tokens, "logprobs": 0}
        whole = server.json("POST", "/v1/completions", asked)
        deltas = [chunk["choices"][0]["text"]
                  for chunk in events(server.ask("POST", "/v1/completions", {**asked, "stream": True})[2])[:-1]]
        text = whole["choices"][0]["text"]
        assert "".join(deltas) == text and whole["usage"]["completion_tokens"] == max_tokens
        assert text == ["\ufffd", "\ufffd", "\U0001F600", "\U0001F600!"][max_tokens - 1]
        assert whole["choices"][0]["finish_reason"] == "length"
        if max_tokens >= 3:
            assert not any("\ufffd" in delta for delta in deltas)
    chat = server.json("POST", "/v1/chat/completions", {"messages": QUESTION["messages"], "max_tokens": 3, "logprobs": True,
                                                        **{key: forced[key] for key in list(forced)[1:]}})
    spelled = [token["bytes"] for token in chat["choices"][0]["logprobs"]["content"]]
    assert bytes(sum(spelled, [])) == "\U0001F600".encode()


def test_errors_come_before_the_stream(server):
    long_text = "word " * 20000
    for fields, code in [({"messages": [{"role": "user", "content": long_text}]}, "context_length_exceeded"),
                         ({"messages": []}, "invalid_value"),
                         ({**QUESTION, "response_format": {"type": "xml"}}, "invalid_value"),
                         ({**QUESTION, "model": "gpt-4"}, "model_not_found")]:
        status, headers, raw = server.ask("POST", "/v1/chat/completions", {**fields, "stream": True})
        assert status in (400, 404) and headers["Content-Type"] == "application/json"
        error = json.loads(raw)["error"]
        assert error["code"] == code and isinstance(error["message"], str) and "type" in error and "param" in error


BODIES = [b"", b"{", b"null", b"[]", b'"x"', b"{:", b'{"a":1,}', b'{"messages":[],"messages":[]}',
          b'{"temperature":1e400}', b'{"temperature":NaN}', b'{"messages":[{"role":"user","content":"\\ud800"}]}',
          b'{"messages":[{"role":"user","content":"\xff"}]}', b'{"model":"\xff"}', b'{"messages":[]}',
          b'\xef\xbb\xbf{}', '{"messages":[]}'.encode("utf-16"), b"[" * 100000, b'{"x":' + b"[" * 100000,
          b'{"tools":[{"type":"function","function":{"name":"f","parameters":' + b'{"a":' * 100000,
          b'{"messages":[{"role":"user","content":' + b"[" * 100000, b"\x00" * 1000]


def test_broken_bodies(server):
    before = server.json("POST", "/v1/chat/completions", {**QUESTION, "max_tokens": 8})
    for path in ("/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/responses",
                 "/v1/responses/input_tokens", "/infill", "/tokenize", "/detokenize", "/apply-template"):
        for body in BODIES:
            status, headers, raw = server.ask("POST", path, body, {"Content-Type": "application/json"})
            assert 400 <= status < 500, (path, body[:60], raw)
            assert isinstance(json.loads(raw.decode())["error"]["message"], str)
    for prompt in ("", [""], []):
        status, _, raw = server.ask("POST", "/v1/completions", {"prompt": prompt})
        assert (status, json.loads(raw)["error"]["code"]) == (400, "invalid_value")
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
                    {"Content-Type": "application/json", "Content-Encoding": "gzip"}):
        assert server.ask("POST", "/v1/chat/completions", b"{}", headers)[0] == 415
    nested = server.json("POST", "/v1/chat/completions", {**QUESTION, "max_tokens": 8, "x": json.loads("[" * 50 + "]" * 50)})
    assert text_of(nested) == text_of(before)
    assert server.process.poll() is None and server.ask("GET", "/health")[0] == 200


def test_a_huge_body(server):
    client = server.send(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                         b"Content-Length: 104857600\r\n\r\n")
    assert client.recv(100).startswith(b"HTTP/1.1 413 ")
    client.close()
    status, _, raw = server.ask("POST", "/v1/completions", b" " * (33 << 20), {"Content-Type": "application/json"})
    assert status == 413 and json.loads(raw)["error"]["code"] == "request_too_large"


def test_routes_and_names(server):
    models = server.json("GET", "/v1/models")["data"]
    assert [model["id"] for model in models] == ["smol", "default"]
    assert server.json("GET", "/v1/models/default")["root"] == "smol"
    assert server.ask("GET", "/v1/models/nothing")[0] == 404
    assert server.ask("GET", "/nowhere")[0] == 404
    status, _, raw = server.ask("GET", "/v1/chat/completions")
    assert status == 405 and json.loads(raw)["error"]["code"] == "method_not_allowed"
    status, headers, raw = server.ask("HEAD", "/health")
    assert (status, raw) == (200, b"") and int(headers["Content-Length"]) > 0
    status, _, raw = server.ask("POST", "/v1/moderations", {"input": "x"})
    assert status == 501 and json.loads(raw)["error"]["code"] == "not_supported"
    _, headers, _ = server.ask("POST", "/v1/chat/completions", {**QUESTION, "max_tokens": 1, "user": "me", "odd": 1},
                               {"x-request-id": "abc-1"})
    assert headers["x-request-id"] == "abc-1" and headers["x-ignored-params"] == "odd, user"


def test_answers_under_load_are_those_of_one(server):
    def ask(i):
        prompt = ("shared " * (0, 16, 17, 64)[i % 4]) + f"marker{i} The word was"
        return server.json("POST", "/v1/completions", {"prompt": prompt, "temperature": 0, "max_tokens": 10})

    serial = [ask(i)["choices"][0]["text"] for i in range(12)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for _ in range(2):
            assert [body["choices"][0]["text"] for body in pool.map(ask, range(12))] == serial


ENDLESS = {"prompt": "a", "max_tokens": 1900, "ignore_eos": True, "stream": True}


def test_clients_that_vanish_at_random_moments(slow_server):
    reference = {"prompt": "hello", "temperature": 0, "max_tokens": 12}
    expected = slow_server.json("POST", "/v1/completions", reference)["choices"][0]["text"]
    slow_server.ask("POST", "/admin/cache/flush")
    rng = random.Random(11)

    def one(seed):
        mine = random.Random(seed)
        body = {**ENDLESS, "prompt": "a" * mine.randrange(1, 300), "n": mine.choice([1, 1, 2]), "seed": seed,
                "stream": mine.random() < 0.7}
        client = slow_server.post("/v1/completions", body)
        time.sleep(mine.random() * 0.1)
        if mine.random() < 0.5:
            vanish(client)
        else:
            client.close()

    resident = 0
    for storm in range(3):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(one, [rng.randrange(1 << 30) for _ in range(80)]))
        slow_server.wait(slow_server.idle, "requests of clients that went still run", 20)
        slow_server.ask("POST", "/admin/cache/flush")
        slow_server.json("POST", "/v1/completions", reference)
        slow_server.ask("POST", "/admin/cache/flush")
        # The figures are those of the end of a step, which may come after the answer.
        slow_server.wait(lambda: slow_server.json("GET", "/admin/cache")["held"] == 0, "pages are still held", 10)
        if storm == 1:
            resident = slow_server.resident_bytes()
    assert slow_server.resident_bytes() < resident * 1.1 + (4 << 20)
    assert slow_server.json("POST", "/v1/completions", reference)["choices"][0]["text"] == expected
    assert slow_server.metric("adit_requests_cancelled_total") > 0


def test_a_client_that_is_killed(slow_server):
    code = ("import socket,sys,time,json\n"
            f"s=socket.create_connection(('127.0.0.1',{slow_server.port}))\n"
            f"b=json.dumps({ENDLESS!r}).encode()\n"
            "s.sendall(b'POST /v1/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: %d\\r\\n\\r\\n'%len(b)+b)\n"
            "s.recv(100); print('on', flush=True); time.sleep(60)\n")
    with subprocess.Popen(["python3", "-c", code], stdout=subprocess.PIPE) as client:
        assert client.stdout.readline() == b"on\n"
        client.kill()
    slow_server.wait(slow_server.idle, "still running", 10)


def test_who_waits_and_goes_makes_room(slow_server):
    clients = [slow_server.post("/v1/completions", ENDLESS) for _ in range(8)]
    slow_server.wait(lambda: slow_server.json("GET", "/load")["requests"] >= 6, "no load")
    for client in clients:
        vanish(client)
    start = time.monotonic()
    assert slow_server.ask("POST", "/v1/completions", {"prompt": "b", "max_tokens": 2})[0] == 200
    assert time.monotonic() - start < 5


def test_one_request_can_be_cancelled(slow_server):
    client = slow_server.post("/v1/completions", {**ENDLESS, "max_tokens": 1999})
    slow_server.wait(lambda: slow_server.json("GET", "/admin/requests")["data"], "no request")
    request = slow_server.json("GET", "/admin/requests")["data"][0]
    slow_server.ask("DELETE", "/admin/requests/" + request["id"])
    raw = b""
    while b"[DONE]" not in raw and (more := client.recv(65536)):
        raw += more
    client.close()
    assert b"data: [DONE]" in raw


def test_draining_ends_with_what_runs(adit, smollm2, tmp_path):
    with Server(adit, smollm2, tmp_path, "--threads", "1", "--kv-tokens", "4096") as server:
        server.wait_ready()
        client = server.post("/v1/completions", {**ENDLESS, "max_tokens": 400})
        assert b"200 OK" in client.recv(100)
        assert server.stop(signal.SIGTERM) == 0
        raw = b""
        while more := client.recv(65536):
            raw += more
        assert b"data: [DONE]" in raw and b'"finish_reason":"length"' in raw
    log = server.log.read_text()
    assert " POST /v1/completions 200 " in log and "output=400" in log


def test_draining_does_not_wait_for_ever(adit, smollm2, tmp_path):
    with Server(adit, smollm2, tmp_path, "--threads", "1", "--kv-tokens", "8192",
                "--drain-timeout", "0.2") as server:
        server.wait_ready()
        client = server.post("/v1/completions", {**ENDLESS, "max_tokens": 8000})
        client.recv(100)
        start = time.monotonic()
        assert server.stop(signal.SIGINT) == 0
        assert time.monotonic() - start < 20
        client.close()


def test_a_second_signal_ends_at_once(adit, smollm2, tmp_path):
    with Server(adit, smollm2, tmp_path, "--threads", "1", "--kv-tokens", "8192") as server:
        server.wait_ready()
        client = server.post("/v1/completions", {**ENDLESS, "max_tokens": 8000})
        client.recv(100)
        server.process.send_signal(signal.SIGTERM)
        server.wait(lambda: "stopping" in server.log.read_text(), "no word of stopping")
        assert server.stop(signal.SIGTERM) == 128 + signal.SIGTERM
        client.close()


def test_keys(adit, smollm2, tmp_path):
    keys = tmp_path / "keys"
    hashed = subprocess.run(["sha256sum"], input=b"reader", stdout=subprocess.PIPE).stdout.split()[0].decode()
    keys.write_text(f"sha256:{hashed} id=r tenant=t scopes=read\n")
    with Server(adit, smollm2, tmp_path, "--threads", "1", "--api-key", "boss", "--api-key-file", keys,
                "--log-json", "--kv-tokens", "1024") as server:
        boss, reader = {"Authorization": "Bearer boss"}, {"x-api-key": "reader"}
        server.wait_ready(boss)
        assert server.ask("GET", "/health/live")[0] == 200
        status, headers, raw = server.ask("GET", "/v1/models")
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert json.loads(raw)["error"]["code"] == "missing_api_key"
        assert server.ask("GET", "/v1/models", headers=reader)[0] == 200
        body = {"prompt": "secret words", "max_tokens": 2}
        assert server.ask("POST", "/v1/completions", body, reader)[0] == 403
        assert server.ask("POST", "/v1/completions", body, boss)[0] == 200
        keys.write_text(f"sha256:{hashed} id=other tenant=t scopes=inference\n")
        server.wait(lambda: server.ask("POST", "/v1/completions", body, reader)[0] == 200, "keys not read again", 20)
        assert server.ask("GET", "/v1/models", headers=reader)[0] == 403
        assert server.stop() == 0
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    answered = [line for line in lines if line.get("path") == "/v1/completions" and line["status"] == 200]
    assert {line["key"] for line in answered} == {"key1", "other"} and answered[0]["output_tokens"] == 2
    assert "secret words" not in server.log.read_text() and "boss" not in server.log.read_text()


def test_a_tenant_holds_no_more_of_the_cache_than_it_may(adit, tiny_gguf, tmp_path):
    keys = tmp_path / "keys"

    def line(name, more=""):
        hashed = subprocess.run(["sha256sum"], input=name.encode(), stdout=subprocess.PIPE).stdout.split()[0].decode()
        return f"sha256:{hashed} id={name} tenant={name}{more}\n"

    keys.write_text(line("small") + line("large"))
    with Server(adit, tiny_gguf, tmp_path, "--threads", "1", "--api-key", "boss", "--api-key-file", keys,
                "--kv-tokens", "1024", "--public-metrics") as server:
        boss, small, large = ({"Authorization": f"Bearer {name}"} for name in ("boss", "small", "large"))
        server.wait_ready(boss)
        bytes_per_token = int(server.metric('adit_memory_bytes{pool="kv"')) // 1024
        body = {"prompt": "abcdefgh", "max_tokens": 60, "ignore_eos": True, "temperature": 0}

        def text(headers):
            status, _, raw = server.ask("POST", "/v1/completions", body, headers)
            assert status == 200, raw
            return json.loads(raw)["choices"][0]["text"]

        alone = text(large)
        status, _, raw = server.ask("PUT", "/admin/tenants/small", {"max_kv_bytes": 100 * bytes_per_token}, boss)
        assert status == 200 and json.loads(raw)["max_kv_bytes"] == 100 * bytes_per_token
        most_waiting = 0
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(text, small if i % 2 else large) for i in range(80)]
            while not all(answer.done() for answer in answers):
                most_waiting = max(most_waiting, server.metric('adit_num_requests_waiting{reason="tenant"'))
            assert {answer.result() for answer in answers} == {alone}
        # One request of "small" fits with room to grow; of four at once some have waited for it.
        assert most_waiting >= 1
        status, _, raw = server.ask("POST", "/v1/completions", {**body, "max_tokens": 200}, small)
        assert status == 400 and json.loads(raw)["error"]["code"] == "context_length_exceeded"
        assert "may hold 100 tokens of the cache" in json.loads(raw)["error"]["message"]


def test_a_unix_socket(adit, tiny_gguf, tmp_path):
    path = tmp_path / "socket"
    process = adit.start("serve", tiny_gguf, "--uds", path, "--isa", "ref", "--threads", "1", "--kv-tokens", "1024")
    try:
        def status():
            done = subprocess.run(["python3", "-c",
                                   "import socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);"
                                   "s.sendall(b'GET /health HTTP/1.0\\r\\n\\r\\n');print(s.recv(12))", path],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            return done.stdout
        end = time.monotonic() + 60
        while b"200" not in status():
            assert time.monotonic() < end
            time.sleep(0.1)
        assert adit.run("serve", tiny_gguf, "--uds", path).returncode == 5
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0 and not path.exists()
    process.stderr.close()
    process.stdout.close()


def test_sampling_starts_from_the_flag_then_the_model(adit, oracle, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(oracle / "models/llama", folder, ignore=shutil.ignore_patterns("*.gguf", "golden*"))
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    (folder / "generation_config.json").write_text(json.dumps(
        {"do_sample": True, "temperature": 0.25, "top_k": 7, "top_p": 0.5, "repetition_penalty": 1.5}))
    asked = {"prompt": "hello", "max_tokens": 12, "seed": 5, "ignore_eos": True}

    def serve(name, *flags):
        (tmp_path / name).mkdir()
        with Server(adit, folder, tmp_path / name, "--alias", "m", *flags) as server:
            server.wait_ready()
            defaults = server.json("GET", "/v1/models/m")["defaults"]
            return [defaults[key] for key in ("temperature", "top_k", "top_p", "repetition_penalty")], [
                server.json("POST", "/v1/completions", {**asked, **more})["choices"][0]["text"]
                for more in ({}, {"temperature": 0.25, "top_k": 7, "top_p": 0.5, "repetition_penalty": 1.5},
                             {"temperature": 1, "top_k": 0, "top_p": 1, "repetition_penalty": 1})]

    defaults, (plain, same, openai) = serve("model_says")
    assert defaults == [0.25, 7, 0.5, 1.5] and plain == same and plain != openai
    defaults, texts = serve("none", "--generation-config", "none")
    assert defaults == [1, 0, 1, 1] and texts == [openai, same, openai]
    defaults, texts = serve("flag", "--default-sampling", "temperature=1,top_k=0,repetition_penalty=1")
    assert defaults == [1, 0, 0.5, 1] and texts[1:] == [same, openai]


def test_wrong_flags(adit, tiny_gguf, tmp_path, server):
    for flags in (["--port", "70000"], ["--memory", "lots"], ["--max-body-mb", "0"], ["--drain-timeout", "-1"],
                  ["--api-key", ""], ["--port", "1", "--uds", "x"], ["--scheduling-policy", "luck"],
                  ["--default-sampling", "temperature"], ["--default-sampling", "n=2"], ["--task", "sing"]):
        adit.fails(2, "serve", tiny_gguf, *flags)
    adit.fails(3, "serve", "nothing.gguf")
    adit.fails(2, "serve", tiny_gguf, "--api-key-file", tmp_path / "none")
    assert "in use" in adit.fails(5, "serve", tiny_gguf, "--port", server.port)
    assert "--drain-timeout" in adit.ok("serve", "--help").decode()
