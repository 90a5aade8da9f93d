"""Requests as lm-evaluation-harness makes them (its models local-completions and local-chat-completions)."""
import math

import pytest
from server import Server

CONTEXTS = ["The capital of France is", "Two and two are", "A dog and a"]
ENDINGS = [" Paris", " four, of course", " cat"]


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    running = Server(adit, smollm2, tmp_path_factory.mktemp("lm_eval")).wait_ready()
    yield running
    running.process.terminate()
    running.process.wait()


def encode(server, text):
    return server.json("POST", "/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]


def name(server):
    return server.json("GET", "/v1/models")["data"][0]["id"]


def score(server, prompts):
    """What the harness sends for log-likelihoods."""
    return server.json("POST", "/v1/completions", {"model": name(server), "prompt": prompts, "temperature": 0, "max_tokens": 1,
                                                   "logprobs": 1, "seed": 1234, "echo": True})


def test_the_tokenizer_is_told(server):
    info = server.json("GET", "/tokenizer_info")
    assert info["eos_token"] == "<|im_end|>" and "messages" in info["chat_template"]
    assert len(encode(server, info["eos_token"])) == 1
    ids = encode(server, CONTEXTS[0])
    assert server.json("POST", "/detokenize", {"tokens": ids})["prompt"] == CONTEXTS[0]


def parse(answer, context_lengths):
    """As LocalCompletionsAPI.parse_logprobs: the prompt's tokens, without the one that was generated."""
    found = []
    for choice, length in zip(sorted(answer["choices"], key=lambda choice: choice["index"]), context_lengths):
        told = choice["logprobs"]["token_logprobs"][length:-1]
        tops = choice["logprobs"]["top_logprobs"][length:-1]
        found.append((sum(told), all(value == max(top.values()) for value, top in zip(told, tops)), len(told)))
    return found


def test_log_likelihoods_are_those_of_the_logits(server, adit, smollm2, tmp_path):
    contexts = [encode(server, text) for text in CONTEXTS]
    whole = [encode(server, a + b) for a, b in zip(CONTEXTS, ENDINGS)]
    lengths = [len(ids) for ids in contexts]
    assert all(ids[:n] == a for ids, n, a in zip(whole, lengths, contexts))
    batch = parse(score(server, whole), lengths)
    for ids, length, (likelihood, greedy, count) in zip(whole, lengths, batch):
        assert count == len(ids) - length
        alone = parse(score(server, [ids]), [length])[0]
        assert alone == (likelihood, greedy, count)
        rows = logits(adit, smollm2, tmp_path, ids)
        want, is_top = 0.0, True
        for i in range(length, len(ids)):
            row = rows[i - 1]
            top = max(row)
            want += row[ids[i]] - top - math.log(sum(math.exp(x - top) for x in row))
            is_top = is_top and row[ids[i]] == top
        assert likelihood == pytest.approx(want, abs=1e-3)
        assert greedy == is_top


def logits(adit, model, folder, ids):
    import struct

    from conftest import read_safetensors
    path = folder / "rows.safetensors"
    adit.ok("logits", model, "--tokens", ",".join(map(str, ids)), "--all", "-o", path)
    (count, size), data = read_safetensors(path)["logits"][1:]
    return [struct.unpack_from(f"<{size}f", data, 4 * size * i) for i in range(count)]


def test_texts_do_as_well_as_ids(server):
    whole = CONTEXTS[0] + ENDINGS[0]
    length = len(encode(server, CONTEXTS[0]))
    assert parse(score(server, whole), [length]) == parse(score(server, [encode(server, whole)]), [length])


def test_generation_stops_where_the_task_says(server):
    ask = {"model": name(server), "prompt": [encode(server, CONTEXTS[0])], "max_tokens": 24, "temperature": 0, "seed": 1234}
    whole = server.json("POST", "/v1/completions", ask)["choices"][0]["text"]
    assert whole.strip() and "\n" in whole, "there is something to stop at"
    choice = server.json("POST", "/v1/completions", ask | {"stop": ["\n", "Question:"]})["choices"][0]
    assert (choice["text"], choice["finish_reason"]) == (whole[:whole.index("\n")], "stop")
