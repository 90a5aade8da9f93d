"""Spans of requests, told to a collector of OpenTelemetry's."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from server import Server


class Collector(ThreadingHTTPServer):
    """Takes what /v1/traces is posted."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans = []
        self.types = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def await_spans(self, names):
        """Returns once each of the names has come."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if set(names) <= {span["name"] for span in list(self.spans)}:
                return
            time.sleep(0.05)
        pytest.fail(f"no spans {names} but {[span['name'] for span in self.spans]}")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/traces"
        self.server.types.add(self.headers["Content-Type"])
        for resource in body["resourceSpans"]:
            assert {"key": "service.name", "value": {"stringValue": "adit"}} in resource["resource"]["attributes"]
            for scope in resource["scopeSpans"]:
                self.server.spans.extend(scope["spans"])
        answer = b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def collector():
    with Collector() as started:
        yield started
        started.shutdown()


def test_a_request_is_told_with_what_its_time_went_into(adit, tiny_gguf, tmp_path, collector):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    with Server(adit, tiny_gguf, tmp_path, "--alias", "tiny", "--otlp-endpoint", endpoint) as server:
        server.wait_ready()
        body = {"prompt": "xyz xyz xyz", "max_tokens": 5, "ignore_eos": True}
        ask = {"traceparent": f"00-{trace}-00f067aa0ba902b7-00"}
        assert server.ask("POST", "/v1/completions", body, headers=ask)[0] == 200
        ask = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        assert server.ask("POST", "/v1/completions", body, headers=ask)[0] == 200
        assert server.ask("POST", "/v1/completions", {"prompt": 1})[0] == 400
        collector.await_spans(["tokenize", "queue", "prefill", "decode"])
    spans = list(collector.spans)  # what was left is sent at the end
    assert collector.types == {"application/json"}
    whole = [span for span in spans if span["kind"] == 2]
    assert len(whole) == 2, "one was not sampled"
    told = next(span for span in whole if span.get("parentSpanId") == "00f067aa0ba902b7")
    assert told["traceId"] == trace and told["name"].startswith("text_completion ")
    attributes = {item["key"]: next(iter(item["value"].values())) for item in told["attributes"]}
    assert attributes["gen_ai.usage.output_tokens"] == "5" and attributes["http.response.status_code"] == "200"
    children = [span for span in spans if span.get("parentSpanId") == told["spanId"]]
    assert [span["name"] for span in children] == ["tokenize", "queue", "prefill", "decode"]
    for span in children:
        assert int(told["startTimeUnixNano"]) <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(told["endTimeUnixNano"])
    assert abs(int(told["endTimeUnixNano"]) / 1e9 - time.time()) < 120
    assert "xyz" not in json.dumps(spans), "what clients wrote is not told"
    (refused,) = [span for span in whole if span is not told]
    assert {"key": "http.response.status_code", "value": {"intValue": "400"}} in refused["attributes"]


def test_without_a_collector_requests_are_answered_and_the_log_says_so(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--otlp-endpoint", "http://127.0.0.1:9/otel/") as server:
        server.wait_ready()
        for _ in range(3):
            assert server.ask("POST", "/v1/completions", {"prompt": "a", "max_tokens": 2})[0] == 200
        until = time.monotonic() + 20
        while "traces: " not in server.log.read_text() and time.monotonic() < until:
            time.sleep(0.05)
    assert server.log.read_text().count("traces: ") == 1


def test_an_endpoint_that_is_none_is_refused(adit, tiny_gguf):
    assert "--otlp-endpoint: " in adit.fails(2, "serve", tiny_gguf, "--otlp-endpoint", "ftp://x")
