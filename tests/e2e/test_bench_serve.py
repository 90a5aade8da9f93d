"""adit bench serve: against a made-up server whose timings are known, and against adit serve itself."""
import http.server
import json
import threading
import time

import pytest
from server import Server

FIRST_S, GAP_S, TOKENS = 0.10, 0.02, 11


class Behaviour:
    """What a made-up server does; tests change it."""

    def __init__(self):
        self.first_s, self.gap_s = FIRST_S, GAP_S
        self.fault = lambda number: None  # of request `number`: what goes wrong
        self.bodies, self.keys = [], []
        self.now = self.most = 0
        self.lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": "made-up"}]})

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, value):
        self.chunk(f"data: {json.dumps(value)}\n\n")

    def do_POST(self):
        behaviour = self.server.behaviour
        begin = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with behaviour.lock:
            number = len(behaviour.bodies)
            behaviour.bodies.append((self.path, body))
            behaviour.keys.append(self.headers.get("Authorization"))
            behaviour.now += 1
            behaviour.most = max(behaviour.most, behaviour.now)
        try:
            self.answer(behaviour, behaviour.fault(number), body, begin)
        finally:
            with behaviour.lock:
                behaviour.now -= 1

    def answer(self, behaviour, fault, body, begin):
        if isinstance(fault, int):
            code = {429: "queue_full", 500: "internal_error", 400: "context_length_exceeded"}[fault]
            return self.reply(fault, {"error": {"message": "m", "type": "t", "code": code}})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        chat = "messages" in body
        piece = lambda text: {"delta": {"content": text}} if chat else {"text": text}
        self.event({"choices": [{"index": 0, **piece("")}]})
        for i in range(TOKENS):
            time.sleep(max(0.0, begin + behaviour.first_s + i * behaviour.gap_s - time.monotonic()))
            self.event({"choices": [{"index": 0, **piece(f"w{i} ")}]})
            if i == 3 and fault == "vanish":
                self.connection.close()
                self.close_connection = True
                return
            if i == 3 and fault == "malformed":
                return self.chunk("data: {broken\n\n") or self.chunk("")
            if i == 3 and fault == "error":
                return self.event({"error": {"code": "internal_error"}}) or self.chunk("")
            if i == 3 and fault == "hang":
                time.sleep(5)
        self.event({"choices": [{"index": 0, **piece(""), "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": TOKENS,
                                             "prompt_tokens_details": {"cached_tokens": 8}}})
        self.chunk("data: [DONE]\n\n")
        self.chunk("")


class FakeServer(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


@pytest.fixture
def fake():
    server = FakeServer(("127.0.0.1", 0), Handler)
    server.behaviour = Behaviour()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def load(adit, url, *arguments):
    return json.loads(adit.ok("bench", "serve", "--url", url, "--input-len", "12", "--output-len", TOKENS, "-o", "json",
                              *arguments))


def test_the_figures_are_right(adit, fake):
    report = load(adit, fake.url, "--num-prompts", "12", "--max-concurrency", "4", "--slo", "ttft:5s,tpot:2s")
    assert (report["completed"], report["failed"], report["errors"]) == (12, 0, {})
    # A busy machine is late, and never early.
    assert 100 <= report["ttft_p50_ms"] < 140
    assert report["itl_p50_ms"] == pytest.approx(20, abs=4) and report["tpot_p50_ms"] == pytest.approx(20, abs=4)
    assert 0.3 <= report["e2e_p50_s"] < 0.36
    rounds = 3 * (FIRST_S + (TOKENS - 1) * GAP_S)
    assert rounds <= report["duration_s"] < 1.5 * rounds
    assert report["output_tokens"] == report["pieces"] == 12 * TOKENS and report["prompt_tokens"] == 12 * 20
    assert report["output_tokens_per_s"] == pytest.approx(report["output_tokens"] / report["duration_s"])
    assert report["prefix_hit_percent"] == pytest.approx(40)
    assert report["met_objectives"] == 12
    assert fake.behaviour.most == 4 and 2.5 < report["mean_running"] <= 4
    assert report["settings"]["model"] == "made-up" and "steps" not in report and "queue_p50_ms" not in report
    timeline = report["timeline"]
    assert sum(rate * (end - begin) for begin, end, rate in zip(timeline["begin_s"], timeline["end_s"], timeline[
        "output_tokens_per_s"])) == pytest.approx(report["pieces"])
    tight = load(adit, fake.url, "--num-prompts", "4", "--slo", "ttft:0.05s")
    assert tight["met_objectives"] == 0 and tight["goodput_requests_per_s"] == 0


def test_an_open_loop_sends_at_its_times(adit, fake):
    report = load(adit, fake.url, "--num-prompts", "20", "--request-rate", "40", "--burstiness", "1000")
    # 19 gaps of 25 ms, and the last answer.
    assert 0.7 <= report["duration_s"] < 1.1
    assert report["sent_late_most_ms"] < 100
    assert 100 <= report["ttft_p50_ms"] < 140 and fake.behaviour.most >= 8


def test_what_is_sent(adit, fake):
    load(adit, fake.url + "/v1/", "--num-prompts", "4", "--turns", "2", "--shared-prefix", "7", "--api-key", "secret",
         "--extra-body", '{"top_k": 3, "temperature": 1}', "--max-concurrency", "1")
    chats = [body for path, body in fake.behaviour.bodies if path == "/v1/chat/completions"]
    assert len(chats) == 4 and set(fake.behaviour.keys) == {"Bearer secret"}
    assert all(chat["stream"] and chat["stream_options"] == {"include_usage": True} and chat["ignore_eos"] and
               chat["max_tokens"] == TOKENS and chat["top_k"] == 3 and chat["temperature"] == 1 for chat in chats)
    firsts = [chat["messages"] for chat in chats if len(chat["messages"]) == 2]
    seconds = [chat["messages"] for chat in chats if len(chat["messages"]) == 4]
    assert len(firsts) == len(seconds) == 2
    for messages in firsts:
        assert [m["role"] for m in messages] == ["system", "user"]
        assert len(messages[0]["content"].split()) == 7 and len(messages[1]["content"].split()) == 12
    assert firsts[0][0] == firsts[1][0] and firsts[0][1] != firsts[1][1]
    for messages in seconds:
        assert messages[:2] in firsts
        assert messages[2] == {"role": "assistant", "content": "".join(f"w{i} " for i in range(TOKENS))}
    fake.behaviour.bodies.clear()
    load(adit, fake.url, "--num-prompts", "2", "--endpoint", "completions", "--token-ids", "50", "--no-ignore-eos")
    for path, body in fake.behaviour.bodies:
        assert path == "/v1/completions" and len(body["prompt"]) == 12 and "ignore_eos" not in body
        assert all(0 <= token < 50 for token in body["prompt"])


def test_errors_are_told(adit, fake):
    faults = [429, None, "vanish", "malformed", "error", 500, "hang", None, 400]
    fake.behaviour.fault = lambda number: faults[number]
    report = load(adit, fake.url, "--num-prompts", str(len(faults)), "--max-concurrency", "1", "--timeout", "1.5")
    assert report["errors"] == {"429 queue_full": 1, "cut off": 1, "malformed stream": 1, "timeout": 1,
                                "error in stream: internal_error": 1, "500 internal_error": 1,
                                "400 context_length_exceeded": 1}
    assert (report["completed"], report["failed"], report["refused_queue_full"], report["refused_too_long"]) == (2, 5, 1,
                                                                                                              1)
    assert 100 <= report["ttft_max_ms"] < 200, "times are of requests that completed"
    fake.behaviour.fault = lambda number: 429
    done = adit.run("bench", "serve", "--url", fake.url, "--num-prompts", "3")
    assert done.returncode == 5 and b"no request completed" in done.stderr and b"| 429 queue_full" in done.stdout


def test_a_turn_whose_earlier_turn_failed_is_skipped(adit, fake):
    fake.behaviour.fault = lambda number: 500 if number == 0 else None
    report = load(adit, fake.url, "--num-prompts", "6", "--turns", "3", "--max-concurrency", "1")
    assert (report["completed"], report["failed"], report["skipped"]) == (3, 1, 2)


def test_two_servers_side_by_side(adit, fake, tmp_path):
    slow = FakeServer(("127.0.0.1", 0), Handler)
    slow.behaviour = Behaviour()
    slow.behaviour.first_s, slow.behaviour.gap_s = 3 * FIRST_S, 2 * GAP_S
    threading.Thread(target=slow.serve_forever, daemon=True).start()
    report = load(adit, fake.url, "--num-prompts", "4", "--vs", f"http://127.0.0.1:{slow.server_address[1]}", "--repeat",
                  "3")
    slow.shutdown()
    asked = [sorted(json.dumps(body) for _, body in server.behaviour.bodies) for server in (fake, slow)]
    assert asked[0] == asked[1] and len(set(asked[0])) == 12
    [comparison] = report["comparisons"]
    assert comparison["rounds"] == 3
    rows = {row["measure"]: row for row in comparison["measures"]}
    assert rows["ttft_p50_ms"]["times_better"] == pytest.approx(3, rel=0.25)
    assert rows["itl_p50_ms"]["times_better"] == pytest.approx(2, rel=0.25)
    assert rows["output_tokens_per_s"]["times_better"] == pytest.approx(0.7 / 0.3, rel=0.25)
    for row in rows.values():
        assert row["least"] <= row["times_better"] <= row["most"]
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(report))
    page = adit.ok("bench", "serve", "--url", fake.url, "--num-prompts", "3", "--input-len", "3", "--output-len", "3",
                   "--compare", path, "-o", "html").decode()
    assert page.startswith("<!DOCTYPE html>") and "earlier.json" in page and page.count("<svg ") >= 4
    assert "http" not in page.replace("http://127.0.0.1", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize("arguments, code, hint", [
    ([], 2, "--url is required"),
    (["--url", "localhost:8000"], 2, "is no URL"),
    (["--url", "http://127.0.0.1:1"], 5, "cannot connect"),
    (["--url", "http://127.0.0.1:1", "--extra-body", "[1]"], 2, "no JSON object"),
    (["--url", "http://127.0.0.1:1", "--token-ids", "9"], 2, "--endpoint completions"),
    (["--url", "http://127.0.0.1:1", "--timeout", "0"], 2, "--timeout"),
    (["--url", "http://127.0.0.1:1", "--request-rate", "0"], 2, "the rate is 0"),
])
def test_wrong_usage(adit, arguments, code, hint):
    assert hint in adit.fails(code, "bench", "serve", *arguments)


def test_adit_serves_it(adit, smollm2, tmp_path):
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "8192", "--ctx", "1024") as server:
        server.wait_ready()
        load_flags = ("--num-prompts", "8", "--turns", "2", "--max-concurrency", "4", "--shared-prefix", "60",
                      "--input-len", "20", "--output-len", "8")
        report = json.loads(adit.ok("bench", "serve", "--url", server.url, *load_flags, "-o", "json"))
        assert (report["completed"], report["errors"], report["output_tokens"]) == (8, {}, 64)
        # What words are to this model: about a token each; and its later turns are found in the cache.
        assert report["prompt_tokens"] < 1.5 * (4 * 80 + 4 * 110) + 8 * 30 and report["prefix_hit_percent"] > 30
        assert 0 < report["ttft_p50_ms"] <= report["ttft_p99_ms"] and report["pieces"] <= 64
        texts = json.loads(adit.ok("bench", "serve", "--url", server.url, "--endpoint", "completions", "--num-prompts",
                                   "4", "--input-len", "16", "--output-len", "4", "--token-ids", "1000", "-o", "json"))
        assert texts["prompt_tokens"] == 64 and texts["output_tokens"] == 16
        server.wait(server.idle, "requests still run", 20)
