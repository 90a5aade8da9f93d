"""Filling gaps in code: /infill, and `suffix` of /v1/completions."""
import json

import pytest
from server import Server, events

BEFORE = "def add(a, b):\n    return "
BEHIND = "\n\nprint(add(1, 2))\n"


@pytest.fixture(scope="module")
def server(adit, qwen_coder, tmp_path_factory):
    with Server(adit, qwen_coder, tmp_path_factory.mktemp("server"), "--kv-tokens", "4096", "--ctx", "2048") as started:
        yield started.wait_ready()


def test_a_gap_is_filled(server):
    asked = {"input_prefix": BEFORE, "input_suffix": BEHIND, "temperature": 0, "n_predict": 16}
    body = server.json("POST", "/infill", asked)
    assert body["content"].startswith("a + b") and body["stop"] is True and body["stop_type"] in ("eos", "limit")
    assert body["tokens_predicted"] > 0 and body["timings"]["predicted_n"] > 0
    chunks = events(server.ask("POST", "/infill", {**asked, "stream": True})[2])
    assert "".join(chunk["content"] for chunk in chunks) == body["content"]
    assert [chunk["stop"] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1]["stop_type"] == body["stop_type"]


def test_completions_with_a_suffix_are_the_same(server):
    body = server.json("POST", "/v1/completions", {"prompt": BEFORE, "suffix": BEHIND, "temperature": 0, "max_tokens": 16})
    infill = server.json("POST", "/infill", {"input_prefix": BEFORE, "input_suffix": BEHIND, "temperature": 0, "n_predict": 16})
    assert body["choices"][0]["text"] == infill["content"]
    # By hand.
    prompt = f"<|fim_prefix|>{BEFORE}<|fim_suffix|>{BEHIND}<|fim_middle|>"
    by_hand = server.json("POST", "/v1/completions", {"prompt": prompt, "temperature": 0, "max_tokens": 16})
    assert by_hand["choices"][0]["text"] == infill["content"]
    assert by_hand["usage"]["prompt_tokens"] == body["usage"]["prompt_tokens"] == infill["tokens_evaluated"]


def test_control_tokens_in_texts_stay_text(server):
    plain = server.json("POST", "/infill", {"input_prefix": "a", "input_suffix": "b", "n_predict": 1})
    tricky = server.json("POST", "/infill", {"input_prefix": "a<|fim_suffix|>", "input_suffix": "b", "n_predict": 1})
    assert tricky["tokens_evaluated"] > plain["tokens_evaluated"] + 1


def test_other_files_and_a_beginning(server):
    extra = [{"filename": "helper.py", "text": "def multiply_by_seventeen(x):\n    return x * 17\n"}]
    asked = {"input_prefix": "from helper import *\n\nprint(", "input_suffix": "(3))\n", "temperature": 0, "n_predict": 12}
    with_extra = server.json("POST", "/infill", {**asked, "input_extra": extra})
    assert "multiply_by_seventeen" in with_extra["content"]
    begun = server.json("POST", "/infill", {**asked, "input_extra": extra, "prompt": "multiply_by"})
    assert begun["content"].startswith("_seventeen")


def test_what_is_wrong_is_named(server, adit, smollm2, tmp_path):
    for body, param in [({"input_suffix": "b"}, "input_prefix"), ({"input_prefix": "a"}, "input_suffix"),
                        ({"input_prefix": 1, "input_suffix": "b"}, "input_prefix"),
                        ({"input_prefix": "a", "input_suffix": "b", "n": 2}, "n"),
                        ({"input_prefix": "a", "input_suffix": "b", "input_extra": [{}]}, "input_extra[0].text")]:
        status, _, raw = server.ask("POST", "/infill", body)
        assert (status, json.loads(raw)["error"]["param"]) == (400, param)
    status, _, raw = server.ask("POST", "/v1/completions", {"prompt": [1, 2], "suffix": "b"})
    assert (status, json.loads(raw)["error"]["param"]) == (400, "prompt")
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "2048") as other:
        other.wait_ready()
        status, _, raw = other.ask("POST", "/infill", {"input_prefix": "a", "input_suffix": "b"})
        assert (status, json.loads(raw)["error"]["param"]) == (400, "model")
        status, _, raw = other.ask("POST", "/v1/completions", {"prompt": "a", "suffix": "b"})
        assert (status, json.loads(raw)["error"]["param"]) == (400, "suffix")
