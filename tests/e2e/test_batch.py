"""adit batch: files of requests in OpenAI's format."""
import json
import re
import signal
import time

import pytest

QUESTIONS = ["What is the capital of France?", "Name a colour.", "What is 2 + 2?", "Say hello.", "Name an animal."]


def line(custom_id, body, url="/v1/chat/completions", method="POST"):
    return {"custom_id": custom_id, "method": method, "url": url, "body": body}


def chat(custom_id, text, **fields):
    return line(custom_id, {"messages": [{"role": "user", "content": text}], **fields})


def completion(custom_id, prompt, **fields):
    return line(custom_id, {"prompt": prompt, **fields}, url="/v1/completions")


class Batch:
    """A file of requests, and what comes of it."""

    def __init__(self, adit, folder, model):
        self.adit, self.folder, self.model = adit, folder, model
        self.input, self.output = folder / "in.jsonl", folder / "out.jsonl"

    def write(self, lines):
        self.input.write_text("".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n"
                                      for entry in lines))

    def command(self, *flags):
        return ("batch", self.input, self.output, self.model, *flags)

    def run(self, lines, *flags):
        """The results by custom_id, after a run that must succeed."""
        self.write(lines)
        self.done = self.adit.run(*self.command(*flags))
        assert (self.done.returncode, self.done.stdout) == (0, b""), self.done.stderr.decode()
        return {result["custom_id"]: result for result in self.results()}

    def results(self):
        text = self.output.read_text()
        assert text == "" or text.endswith("\n")
        # Not splitlines(), which also cuts at characters such as U+2028 that may stand in a JSON string.
        results = [json.loads(row) for row in text.split("\n")[:-1]]
        assert len({result["id"] for result in results}) == len(results)
        return results

    def bodies(self, lines, *flags):
        """The bodies of answers by custom_id; all requests must have one."""
        results = self.run(lines, *flags)
        assert set(results) == {entry["custom_id"] for entry in lines}
        for result in results.values():
            assert result["error"] is None and result["response"]["status_code"] == 200, result
        return {custom_id: result["response"]["body"] for custom_id, result in results.items()}

    def summary(self):
        """Numbers of the last line on stderr: requests, failed, prompt tokens, share cached, output tokens."""
        last = self.done.stderr.decode().splitlines()[-1]
        found = re.fullmatch(r"adit: (\d+) requests, (\d+) failed; (\d+) prompt tokens, ([\d.]+) % from the cache; "
                             r"(\d+) output tokens in [\d.]+ s, [\d.]+ tok/s", last)
        assert found, last
        return tuple(map(float, found.groups()))


@pytest.fixture
def batch(adit, tmp_path, smollm2):
    return Batch(adit, tmp_path, smollm2)


@pytest.fixture
def tiny_batch(adit, tmp_path, tiny_gguf):
    return Batch(adit, tmp_path, tiny_gguf)


def text_of(body, index=0):
    choice = body["choices"][index]
    return choice["message"]["content"] if "message" in choice else choice["text"]


def same(body):
    """What of a body does not depend on when it was made and what ran beside it."""
    usage = {key: value for key, value in body["usage"].items() if key != "prompt_tokens_details"}
    return {**body, "id": None, "created": None, "usage": usage}


def test_answers_are_those_of_run(adit, batch):
    bodies = batch.bodies([chat(text, text, temperature=0, max_tokens=20) for text in QUESTIONS])
    for text in QUESTIONS:
        answer = adit.ok("run", batch.model, text, "--temp", "0", "-n", "20").decode()
        assert answer.removesuffix("\n") == text_of(bodies[text]).removesuffix("\n")
    body = bodies[QUESTIONS[0]]
    assert "Paris" in text_of(body)
    assert body["object"] == "chat.completion" and body["id"].startswith("chatcmpl-")
    assert body["choices"][0]["message"]["role"] == "assistant"
    assert abs(body["created"] - time.time()) < 600
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    requests, failed, prompt, _, output = batch.summary()
    assert (requests, failed) == (len(QUESTIONS), 0)
    assert prompt == sum(body["usage"]["prompt_tokens"] for body in bodies.values())
    assert output == sum(body["usage"]["completion_tokens"] for body in bodies.values())


def test_messages_of_all_roles(batch):
    messages = [{"role": "developer", "content": "You are a parrot."}, {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "hi"},
                {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}]
    asked = {"temperature": 0, "max_tokens": 8}
    bodies = batch.bodies([line("parts", {"messages": messages, **asked}),
                           line("plain", {"messages": [{"role": "system", "content": "You are a parrot."}] +
                                          messages[1:3] + [{"role": "user", "content": "one\ntwo"}], **asked})])
    assert same(bodies["parts"]) == same(bodies["plain"])


def test_seeds_give_the_same_bodies_whatever_runs_together(batch):
    lines = [chat(f"{i}", text, seed=i, temperature=1.2, n=1 + i % 3, logprobs=True, max_tokens=12)
             for i, text in enumerate(QUESTIONS)]
    wide = batch.bodies(lines)
    narrow = batch.bodies(lines, "--overwrite", "--max-num-seqs", "3", "--max-num-batched-tokens", "32")
    for custom_id, body in wide.items():
        assert same(narrow[custom_id]) == same(body)


def test_several_answers(tiny_batch):
    bodies = tiny_batch.bodies([completion("three", "abc", n=3, seed=5, max_tokens=6),
                                completion("best", "abc", n=2, best_of=4, seed=5, max_tokens=6),
                                completion("second", "abc", seed=6, max_tokens=6)])
    choices = bodies["three"]["choices"]
    assert [choice["index"] for choice in choices] == [0, 1, 2]
    assert len({choice["text"] for choice in choices}) == 3
    assert len(bodies["best"]["choices"]) == 2
    # Answer i is drawn with seed + i.
    assert text_of(bodies["three"], 1) == text_of(bodies["second"])


def test_stop_strings(batch):
    asked = {"temperature": 0, "max_tokens": 24}
    free = text_of(batch.bodies([chat("free", QUESTIONS[0], **asked)])["free"])
    # Across the border of two words, so of two tokens.
    space = free.index(" ", len(free) // 2)
    stop = free[space - 2:space + 2]
    expected = free[:free.index(stop)]
    body = batch.bodies([chat("stopped", QUESTIONS[0], stop=["nowhere to be found", stop], **asked)],
                        "--overwrite")["stopped"]
    choice = body["choices"][0]
    assert (text_of(body), choice["finish_reason"], choice["stop_reason"]) == (expected, "stop", stop)
    assert body["usage"]["completion_tokens"] < 24
    body = batch.bodies([chat("both", QUESTIONS[0], stop=stop, n=2, **asked)], "--overwrite")["both"]
    assert [text_of(body, 0), text_of(body, 1)] == [expected, expected]


def test_ends_of_answers(batch):
    bodies = batch.bodies([chat("length", "Count to a hundred.", temperature=0, max_tokens=3),
                           chat("none", "hi", max_tokens=0),
                           chat("stop", QUESTIONS[0], temperature=0),
                           chat("on", QUESTIONS[0], temperature=0, ignore_eos=True, max_tokens=60),
                           chat("least", QUESTIONS[0], temperature=0, min_tokens=50, max_tokens=60)])
    ends = {custom_id: (body["choices"][0]["finish_reason"], body["usage"]["completion_tokens"])
            for custom_id, body in bodies.items()}
    assert ends["length"] == ("length", 3)
    assert ends["none"] == ("length", 0)
    assert ends["stop"][0] == "stop" and ends["stop"][1] < 50
    assert ends["on"] == ("length", 60)
    assert ends["least"][1] >= 50


def test_logprobs_of_chats(batch):
    body = batch.bodies([chat("a", QUESTIONS[0], temperature=0, max_tokens=5, logprobs=True, top_logprobs=3)])["a"]
    content = body["choices"][0]["logprobs"]["content"]
    assert "".join(entry["token"] for entry in content) == text_of(body)
    for entry in content:
        assert bytes(entry["bytes"]).decode() == entry["token"]
        assert len(entry["top_logprobs"]) == 3
        assert entry["logprob"] == entry["top_logprobs"][0]["logprob"] <= 0


def test_logprobs_and_echo_of_completions(batch):
    prompt = "The capital of France is"
    bodies = batch.bodies([completion("plain", prompt, temperature=0, max_tokens=4, logprobs=2),
                           completion("echo", prompt, temperature=0, max_tokens=4, logprobs=2, echo=True),
                           completion("score", prompt, max_tokens=0, logprobs=0, echo=True)])
    plain, echo, score = (bodies[name]["choices"][0] for name in ("plain", "echo", "score"))
    assert echo["text"] == prompt + plain["text"] and score["text"] == prompt
    for choice in (plain, echo, score):
        told = choice["logprobs"]
        for token, offset in zip(told["tokens"], told["text_offset"]):
            assert choice["text"][offset:].startswith(token)
    count = len(score["logprobs"]["tokens"])
    assert echo["logprobs"]["token_logprobs"][count:] == plain["logprobs"]["token_logprobs"]
    assert echo["logprobs"]["token_logprobs"][:count] == score["logprobs"]["token_logprobs"]
    assert score["logprobs"]["token_logprobs"][0] is None
    assert all(len(top) in (2, 3) for top in plain["logprobs"]["top_logprobs"])


def test_beam_search(tiny_batch):
    bodies = tiny_batch.bodies([completion("beams", "abc", use_beam_search=True, n=2, best_of=4, max_tokens=5),
                                completion("one", "abc", use_beam_search=True, max_tokens=5),
                                completion("greedy", "abc", temperature=0, max_tokens=5)])
    assert len(bodies["beams"]["choices"]) == 2
    assert text_of(bodies["beams"], 0) != text_of(bodies["beams"], 1)
    assert text_of(bodies["one"]) == text_of(bodies["greedy"])


def test_logit_bias_and_tokens(tiny_batch):
    bodies = tiny_batch.bodies([completion("bias", [1, 2, 3], logit_bias={"65": 100}, max_tokens=4, logprobs=0),
                                completion("stop", [1, 2, 3], logit_bias={"65": 100}, stop_token_ids=[65])])
    assert len(set(bodies["bias"]["choices"][0]["logprobs"]["tokens"])) == 1
    choice = bodies["stop"]["choices"][0]
    assert (choice["text"], choice["finish_reason"], choice["stop_reason"]) == ("", "stop", 65)


def test_the_cache_is_shared_but_not_across_salts(tiny_batch):
    prompt = list(range(60, 140))
    ask = {"max_tokens": 1}
    bodies = tiny_batch.bodies([completion("first", prompt, **ask), completion("second", prompt, **ask),
                                completion("salted", prompt, cache_salt="s", **ask)], "--max-num-seqs", "1")
    cached = {custom_id: body["usage"]["prompt_tokens_details"]["cached_tokens"]
              for custom_id, body in bodies.items()}
    assert cached["first"] == cached["salted"] == 0 < cached["second"]
    assert tiny_batch.summary()[3] == pytest.approx(100 * cached["second"] / 240, abs=0.06)


def test_bad_lines_and_requests_do_not_stop_the_others(tiny_batch):
    results = tiny_batch.run(["no json", "", "[]", json.dumps({"method": "POST"}),
                              json.dumps(completion("good", "abc", max_tokens=2, model="mine")),
                              json.dumps(completion("range", "abc", temperature=9)),
                              json.dumps(completion("stream", "abc", stream=True)),
                              json.dumps(completion("long", "abc", max_tokens=10 ** 9)),
                              json.dumps(chat("chat", "hi")),
                              json.dumps(completion("many", "abc", n=100)),
                              json.dumps(completion("url", "abc") | {"url": "/v1/embeddings"})])
    assert results["good"]["response"]["body"]["model"] == "mine"

    def error(custom_id):
        response = results[custom_id]["response"]
        assert response["status_code"] == 400 and results[custom_id]["error"] is None
        assert response["body"]["error"]["type"] == "invalid_request_error"
        return response["body"]["error"]["code"], response["body"]["error"]["param"]

    assert error("range") == ("invalid_value", "temperature")
    assert error("stream") == ("unsupported_parameter", "stream")
    assert error("long") == ("context_length_exceeded", "max_tokens")
    assert error("chat") == ("chat_template_error", "messages")
    assert error("many")[0] == "invalid_value"
    assert results["url"]["response"] is None and results["url"]["error"]["param"] == "url"
    nameless = [result["error"] for result in tiny_batch.results() if result["custom_id"] is None]
    assert [(told["line"], told["code"]) for told in nameless] == [
        (1, "invalid_json"), (3, "invalid_type"), (4, "missing_required_parameter")]
    assert tiny_batch.summary()[:2] == (10, 9)
    # None of them is done again, the nameless ones neither.
    before = tiny_batch.output.read_bytes()
    assert tiny_batch.adit.run(*tiny_batch.command()).returncode == 0
    assert tiny_batch.output.read_bytes() == before


def many(count, **fields):
    return [completion(f"id-{i}", f"Request {i}", max_tokens=40, seed=i, ignore_eos=True, **fields)
            for i in range(count)]


def start_and_wait(batch, results):
    process = batch.adit.start(*batch.command("--max-num-seqs", "4"))
    for _ in range(1200):
        if batch.output.exists() and batch.output.read_bytes().count(b"\n") >= results:
            return process
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.05)
    raise AssertionError("no results")


def ids_of(batch):
    return sorted(result["custom_id"] for result in batch.results())


def test_a_killed_run_goes_on_without_loss_or_doubles(batch):
    lines = many(60)
    batch.write(lines)
    for results in (4, 20):
        process = start_and_wait(batch, results)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert batch.output.read_bytes().count(b"\n") < len(lines)
        # As if it had been killed while it was writing.
        with open(batch.output, "ab") as output:
            output.write(b'{"id":"batch_req_0123","custom_id":"id-59","resp')
    resumed = batch.bodies(lines)
    assert b"results are there already" in batch.done.stderr
    assert ids_of(batch) == sorted(entry["custom_id"] for entry in lines)
    whole = batch.bodies(lines, "--overwrite")
    assert {key: same(body) for key, body in resumed.items()} == {key: same(body) for key, body in whole.items()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run(batch, number):
    lines = many(60)
    batch.write(lines)
    process = start_and_wait(batch, 2)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (128 + number, b"")
    assert b"the same command goes on from here" in errors
    assert len(batch.results()) < len(lines)
    batch.bodies(lines)
    assert ids_of(batch) == sorted(entry["custom_id"] for entry in lines)


def test_one_custom_id_twice(tiny_batch):
    tiny_batch.write([completion("a", "x"), completion("b", "x"), completion("a", "y")])
    message = tiny_batch.adit.fails(5, *tiny_batch.command())
    assert "lines 1 and 3" in message and "'a'" in message
    assert tiny_batch.output.read_bytes() == b""


def test_files(tiny_batch):
    adit, model = tiny_batch.adit, tiny_batch.model
    tiny_batch.write([completion("a", "x")])
    assert "same file" in adit.fails(2, "batch", tiny_batch.input, tiny_batch.input, model)
    assert "same file" in adit.fails(2, "batch", tiny_batch.input, model, model)
    assert "/nowhere" in adit.fails(5, "batch", "/nowhere", tiny_batch.output, model)
    assert "/nowhere" in adit.fails(5, "batch", tiny_batch.input, "/nowhere/at/all", model)
    assert adit.fails(3, "batch", tiny_batch.input, tiny_batch.output, "/nowhere.gguf")
    tiny_batch.output.write_text("notes of mine\n")
    assert "--overwrite" in adit.fails(5, *tiny_batch.command())
    assert tiny_batch.output.read_text() == "notes of mine\n"
    tiny_batch.bodies([completion("a", "x", max_tokens=1)], "--overwrite")


def test_an_empty_file_and_a_disk_that_is_full(tiny_batch):
    assert tiny_batch.run([]) == {}
    assert tiny_batch.summary() == (0, 0, 0, 0, 0)
    assert "pipe or device" in tiny_batch.adit.fails(5, "batch", tiny_batch.input, "/dev/full", tiny_batch.model)


def test_default_lengths(tiny_batch):
    lines = [completion("a", "x", ignore_eos=True)]
    assert tiny_batch.bodies(lines)["a"]["usage"]["completion_tokens"] == 16
    usage = tiny_batch.bodies(lines, "--overwrite", "--max-tokens", "5")["a"]["usage"]
    assert usage["completion_tokens"] == 5
    usage = tiny_batch.bodies(lines, "--overwrite", "--max-tokens", "500", "--ctx", "64")["a"]["usage"]
    assert usage["total_tokens"] == 64


def test_priorities_run_first(batch):
    # The first takes all three seats; those behind it wait for it, and then run as they rank.
    lines = [completion("first", "Count.", n=3, max_tokens=80, ignore_eos=True)]
    lines += [completion(f"{rank}", "Count.", max_tokens=4 + rank, priority=rank, ignore_eos=True)
              for rank in (5, 4, 3, 2, 1)]
    batch.bodies(lines, "--max-num-seqs", "3", "--scheduling-policy", "priority")
    assert [result["custom_id"] for result in batch.results()] == ["first", "1", "2", "3", "4", "5"]
