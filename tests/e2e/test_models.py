"""Several models in one server: which are in memory, who waits for them, and who administers them."""
import concurrent.futures
import http.client
import json
import signal
import threading
import time

import pytest
from hub import Hub
from server import Server


@pytest.fixture
def env(tmp_path):
    return {"ADIT_MODELS": str(tmp_path / "models"), "HF_TOKEN_PATH": str(tmp_path / "none"), "HF_TOKEN": ""}


@pytest.fixture
def files(tiny, tmp_path):
    """Models of two families, under names of their own."""
    paths = {}
    for name, source in (("a", "llama.gguf"), ("b", "qwen2.gguf"), ("c", "llama.gguf")):
        paths[name] = tmp_path / f"{name}.gguf"
        paths[name].write_bytes((tiny / source).read_bytes())
    return paths


def start(adit, env, folder, *arguments):
    return Server(adit, arguments[0], folder, *arguments[1:], env=env)


def complete(server, model, **fields):
    body = {"prompt": "abc", "max_tokens": 8, "temperature": 0, "ignore_eos": True, **fields}
    if model:
        body["model"] = model
    return server.ask("POST", "/v1/completions", body)


def status_of(server, model):
    return server.json("GET", f"/v1/models/{model}")["status"]


def test_models_are_loaded_when_they_are_asked_for(adit, env, files, tmp_path):
    with start(adit, env, tmp_path, files["a"], files["b"], "--alias", "x=b", "--kv-tokens", "4096") as server:
        server.wait_ready()
        listed = server.json("GET", "/v1/models")["data"]
        assert [(m["id"], m["root"], m["status"]) for m in listed] == [
            ("a", "a", "unloaded"), ("b", "b", "unloaded"), ("x", "b", "unloaded")]
        status, _, body = complete(server, "x")
        assert status == 200 and json.loads(body)["usage"]["completion_tokens"] == 8
        assert (status_of(server, "a"), status_of(server, "b")) == ("unloaded", "loaded")
        assert server.metric('adit_model_state{state="loaded",model="b"}') == 1
        assert server.metric('adit_model_state{state="loaded",model="a"}') == 0
        status, _, body = complete(server, "other")
        error = json.loads(body)["error"]
        assert (status, error["code"], error["param"]) == (404, "model_not_found", "model")
        assert "'a', 'b', 'x'" in error["message"]
        # The first is the default.
        assert complete(server, None)[0] == 200 and status_of(server, "a") == "loaded"
        url = ["--url", server.url]
        table = adit.ok("ps", *url).decode().splitlines()
        assert table[0].split() == ["NAME", "STATUS", "SIZE", "CONTEXT", "REQUESTS"]
        assert [line.split()[:2] for line in table[1:]] == [["a", "loaded"], ["b", "loaded"]]
        assert adit.ok("stop", "x", *url) == b"x: unloaded\n"
        assert status_of(server, "b") == "unloaded" and status_of(server, "a") == "loaded"
        assert "there is no model 'c'" in adit.fails(3, "stop", "c", *url)
        assert complete(server, "b")[0] == 200, "and is loaded again when it is asked for"
        assert server.stop() == 0
    assert "cannot connect" in adit.fails(5, "ps", *url)


def test_answers_are_those_of_the_model_alone(adit, env, files, tmp_path):
    alone = {}
    for name in ("a", "b"):
        folder = tmp_path / f"alone-{name}"
        folder.mkdir()
        with start(adit, env, folder, files[name], "--kv-tokens", "4096") as server:
            server.wait_ready()
            alone[name] = json.loads(complete(server, name)[2])["choices"]
    with start(adit, env, tmp_path, files["a"], files["b"], "--preload", "all", "--kv-tokens", "4096") as server:
        server.wait_ready()
        assert {status_of(server, name) for name in ("a", "b")} == {"loaded"}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [(name, pool.submit(complete, server, name)) for name in ("a", "b") * 8]
        for name, answer in asked:
            assert json.loads(answer.result()[2])["choices"] == alone[name]


def test_many_first_requests_wait_for_one_load(adit, env, files, tmp_path):
    with start(adit, env, tmp_path, files["a"], files["b"], "--kv-tokens", "8192") as server:
        server.wait_ready()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: complete(server, "b")[0], range(16)))
        assert answers == [200] * 16
        assert server.log.read_text().count("ready: b,") == 1


def test_models_make_room_for_each_other_and_no_request_fails(adit, env, files, tmp_path):
    # Each takes more than half of what there is.
    with start(adit, env, tmp_path, files["a"], files["b"], files["c"], "--memory", "900M", "--kv-tokens", "4M",
               "--max-num-seqs", "8", "--ctx", "200") as server:
        server.wait_ready()
        assert complete(server, "a")[0] == 200
        assert server.json("GET", "/v1/models/a")["memory_bytes"] > 450e6
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            names = ["a", "b", "c", "b", "a", "c"] * 4
            streams = [pool.submit(complete, server, name, max_tokens=60, stream=i % 2 == 0)
                       for i, name in enumerate(names)]
        assert [stream.result()[0] for stream in streams] == [200] * len(names)
        assert all(b"error" not in stream.result()[2] for stream in streams)
        states = [status_of(server, name) for name in ("a", "b", "c")]
        assert states.count("loaded") == 1
        assert server.log.read_text().count("ready: ") > 3
        pinned = ("a", "b", "c")[states.index("loaded")]
        other = ("a", "b", "c")[(states.index("loaded") + 1) % 3]
        assert server.json("POST", "/admin/plan", {"model": other})["unloads"] == [pinned]
        assert server.json("POST", "/admin/models/pin", {"model": pinned}) == {"model": pinned, "pinned": True}
        plan = server.json("POST", "/admin/plan", {"model": other})
        assert not plan["fits"] and plan["needed_bytes"] + plan["used_bytes"] > plan["budget_bytes"]
        status, _, body = complete(server, other)
        assert (status, json.loads(body)["error"]["code"]) == (507, "insufficient_memory")
        assert complete(server, pinned)[0] == 200 and server.ask("GET", "/health")[0] == 200


def test_swaps_under_load_fail_no_request(adit, env, files, tmp_path):
    adit.ok("cp", files["c"], "next", env=env)
    adit.ok("cp", files["a"], "first", env=env)
    with start(adit, env, tmp_path, files["a"], files["b"], "--preload", "a", "--kv-tokens", "8192") as server:
        server.wait_ready()
        stop = threading.Event()
        results = []

        def ask(number):
            while not stop.is_set():
                status, _, body = complete(server, "a", max_tokens=30, stream=number % 2 == 0)
                results.append((status, b'"error"' in body))

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for i in range(6):
            # Some are answered between one swap and the next.
            wanted = len(results) + 4
            server.wait(lambda: len(results) >= wanted, "no answers")
            told = server.json("POST", "/admin/models/swap", {"model": "a", "source": ("next", "first")[i % 2]})
            assert told == {"model": "a", "status": "swapped"}
        stop.set()
        for thread in threads:
            thread.join()
        assert len(results) >= 24 and set(results) == {(200, False)}
        server.wait(server.idle, "requests are left")
        bad = server.ask("POST", "/admin/models/swap", {"model": "a", "source": str(files["c"])})
        assert bad[0] == 400 or bad[0] == 404, "no path of a client's is opened"
        assert complete(server, "a")[0] == 200


def test_a_model_is_fetched_and_served_without_a_restart(adit, env, files, tmp_path, tiny_gguf):
    hub = Hub()
    hub.add("org/tiny", {"tiny-F32.gguf": tiny_gguf.read_bytes()})
    with start(adit, {**env, "HF_ENDPOINT": hub.url}, tmp_path, files["b"], "--kv-tokens", "4096") as server:
        server.wait_ready()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/admin/models/events")
        stream = connection.getresponse()
        assert server.ask("POST", "/admin/models/load", {"model": "org/tiny"})[0] == 404
        status, _, body = server.ask("POST", "/admin/models/pull", {"model": "org/tiny"})
        assert (status, json.loads(body)) == (202, {"model": "org/tiny", "status": "fetching"})
        seen = []
        while not seen or seen[-1]["event"] != "fetched":
            line = stream.readline()
            if line.startswith(b"data: "):
                seen.append(json.loads(line[6:]))
        assert {event["model"] for event in seen} == {"org/tiny"}
        assert server.json("POST", "/admin/models/load", {"model": "org/tiny"})["status"] == "loaded"
        assert json.loads(complete(server, "org/tiny")[2])["model"] == "org/tiny"
        assert server.json("DELETE", "/admin/models/org/tiny")["status"] == "removed"
        assert complete(server, "org/tiny")[0] == 404
        failed = server.ask("POST", "/admin/models/pull", {"model": "org/none", "wait": True})
        assert failed[0] in (404, 409) and b"org/none" in failed[2]
        # A stream of events does not hold up the end.
        began = time.monotonic()
        assert server.stop() == 0 and time.monotonic() - began < 10
    hub.close()
    (tmp_path / "offline").mkdir()
    with start(adit, env, tmp_path / "offline", files["b"], "--offline", "--kv-tokens", "4096") as server:
        server.wait_ready()
        assert b"--offline" in server.ask("POST", "/admin/models/pull", {"model": "org/tiny", "wait": True})[2]


def test_the_end_comes_while_a_model_is_loaded(adit, env, smollm2, files, tmp_path):
    with start(adit, env, tmp_path, smollm2, files["a"], "--kv-tokens", "4096", "--drain-timeout", "5") as server:
        server.wait_ready()
        client = server.post("/v1/completions", {"prompt": "a", "max_tokens": 1, "model": smollm2.stem})
        time.sleep(0.05)
        assert server.stop(signal.SIGTERM) == 0
        client.close()


def test_flags_that_do_not_go_together(adit, files, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.gguf").write_bytes(files["a"].read_bytes())
    assert "two models are called 'a'" in adit.fails(2, "serve", files["a"], other / "a.gguf")
    assert "NAME=MODEL" in adit.fails(2, "serve", files["a"], files["b"], "--alias", "x")
    assert "no such MODEL" in adit.fails(2, "serve", files["a"], files["b"], "--alias", "x=z")
    assert "--pin: 'z'" in adit.fails(2, "serve", files["a"], files["b"], "--pin", "z")
    assert "--preload: 'z'" in adit.fails(2, "serve", files["a"], files["b"], "--preload", "z")
    assert "--chat-template" in adit.fails(2, "serve", files["a"], files["b"], "--chat-template", files["a"])
    adit.fails(2, "serve")
    assert "not found" in adit.fails(3, "serve", files["a"], tmp_path / "none.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF broken")
    done = adit.run("serve", files["a"], broken, "--preload", "broken", "--port", "0")
    assert done.returncode == 5 and b"broken.gguf" in done.stderr
