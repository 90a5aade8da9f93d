"""--compat ollama: what Ollama's own client makes of it."""
import json

import pytest
from hub import Hub
from server import Server

ollama = pytest.importorskip("ollama", reason="scripts/setup test installs ollama")

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a city",
    "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}}}


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--alias", "small",
                "--compat", "ollama", "--kv-tokens", "8192") as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def client(server):
    return ollama.Client(host=server.url)


def test_a_chat(server, client):
    options = {"temperature": 0, "num_predict": 30}
    answer = client.chat("smol", QUESTION, options=options)
    assert "Paris" in answer.message.content and answer.done and answer.done_reason in ("stop", "length")
    assert answer.eval_count > 0 and answer.prompt_eval_count > 0 and answer.total_duration > 0
    parts = list(client.chat("smol:latest", QUESTION, options=options, stream=True))
    assert "".join(part.message.content for part in parts) == answer.message.content
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].eval_count == answer.eval_count
    whole = server.json("POST", "/v1/chat/completions", {"messages": QUESTION, "temperature": 0, "max_tokens": 30})
    assert whole["choices"][0]["message"]["content"] == answer.message.content, "the same as by OpenAI's interface"


def test_a_stream_is_lines_of_json(server):
    status, headers, body = server.ask("POST", "/api/chat", {"model": "smol", "messages": QUESTION,
                                                             "options": {"temperature": 0, "num_predict": 5}})
    assert (status, headers["Content-Type"]) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in body.splitlines()]
    assert all(line["model"] == "smol" for line in lines) and lines[-1]["done_reason"] == "length"


def test_generating(server, client):
    options = {"temperature": 0, "num_predict": 20}
    answer = client.generate("small", "What is the capital of France?", options=options)
    assert "Paris" in answer.response
    assert "".join(part.response for part in client.generate(
        "small", "What is the capital of France?", options=options, stream=True)) == answer.response
    raw = client.generate("smol", "The capital of France is", raw=True, options=options)
    plain = server.json("POST", "/v1/completions", {"prompt": "The capital of France is", "temperature": 0, "max_tokens": 20})
    assert raw.response == plain["choices"][0]["text"]
    assert client.generate("smol").done_reason == "load"
    brief = client.generate("smol", "Hello", system="Answer in one word.", options={"stop": ["o"], "num_predict": 30})
    assert "o" not in brief.response


def test_formats(server, client):
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
              "required": ["city", "people"]}
    options = {"temperature": 0, "num_predict": 100}
    try:
        answer = client.chat("smol", QUESTION, format=schema, options=options)
    except ollama.ResponseError as error:
        if "structured output" in str(error):
            pytest.skip("adit is built without structured output")
        raise
    assert set(json.loads(answer.message.content)) == {"city", "people"}


def test_lists(server, client):
    listed = client.list().models
    assert [model.model for model in listed] == ["smol", "small"]
    assert listed[0].size > 90e6 and listed[0].details.family == "llama"
    running = client.ps().models
    assert [model.model for model in running] == ["smol"] and running[0].size > 0
    shown = client.show("small")
    assert "completion" in shown.capabilities and shown.modelinfo["general.architecture"] == "llama"
    assert "im_start" in shown.template
    assert server.json("GET", "/api/version")["version"] == server.json("GET", "/version")["version"]


def test_errors(server, client):
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat("other", QUESTION)
    assert caught.value.status_code == 404 and "'smol'" in str(caught.value)
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat("smol", [{"role": "user", "content": "x", "images": [b"abc"]}])
    assert caught.value.status_code == 400 and "images" in str(caught.value)
    with pytest.raises(ollama.ResponseError):
        client.embed("smol", "text")
    assert json.loads(server.ask("POST", "/api/chat", b"{")[2]).keys() == {"error"}
    assert server.ask("GET", "/api/nothing")[0] == 404


def test_tools(adit, qwen_coder, tmp_path):
    with Server(adit, qwen_coder, tmp_path, "--alias", "qwen", "--compat", "ollama", "--kv-tokens", "4096",
                "--tool-call-parser", "hermes") as server:
        server.wait_ready()
        client = ollama.Client(host=server.url)
        asked = [{"role": "user", "content": "What is the weather in Paris? Call get_weather."}]
        options = {"temperature": 0, "num_predict": 40}
        answer = client.chat("qwen", asked, tools=[TOOL], options=options)
        streamed = list(client.chat("qwen", asked, tools=[TOOL], options=options, stream=True))
        assert "".join(part.message.content for part in streamed) == answer.message.content
        calls = [call for part in streamed for call in part.message.tool_calls or []]
        assert [c.function.name for c in calls] == [c.function.name for c in answer.message.tool_calls or []]
        result = client.chat("qwen", asked + [
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]},
            {"role": "tool", "tool_name": "get_weather", "content": "Sunny, 21 degrees"}], tools=[TOOL], options=options)
        assert result.message.content


def test_embeddings(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--task", "embed", "--alias", "e", "--compat", "ollama") as server:
        server.wait_ready()
        client = ollama.Client(host=server.url)
        answer = client.embed("e", ["one", "two"])
        wanted = server.json("POST", "/v1/embeddings", {"input": ["one", "two"]})["data"]
        assert [list(one) for one in answer.embeddings] == [pytest.approx(one["embedding"]) for one in wanted]
        assert answer.prompt_eval_count > 0


def test_pulling(adit, tiny_gguf, tmp_path):
    hub = Hub()
    hub.add("org/tiny", {"tiny-F32.gguf": tiny_gguf.read_bytes()})
    env = {"HF_ENDPOINT": hub.url, "ADIT_MODELS": str(tmp_path / "models"), "HF_TOKEN": "",
           "HF_TOKEN_PATH": str(tmp_path / "none")}
    with Server(adit, tiny_gguf, tmp_path, "--compat", "ollama", "--kv-tokens", "1024", env=env) as server:
        server.wait_ready()
        client = ollama.Client(host=server.url)
        states = [part.status for part in client.pull("org/tiny", stream=True)]
        assert states[-1] == "success" and "pulling org/tiny" in states
        assert "org/tiny" in [model.model for model in client.list().models]
        answer = client.generate("org/tiny", "abc", raw=True, options={"num_predict": 3})
        assert answer.eval_count <= 3
        with pytest.raises(ollama.ResponseError):
            client.pull("org/none")
    hub.close()


def test_nothing_of_it_is_there_without_the_flag(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--kv-tokens", "1024") as server:
        server.wait_ready()
        assert server.ask("GET", "/api/tags")[0] == 404 and server.ask("POST", "/api/chat", {})[0] == 404
        assert not any(route["path"].startswith("/api/") for route in server.json("GET", "/admin/routes")["data"])
    assert "there is: ollama" in adit.fails(2, "serve", tiny_gguf, "--compat", "tgi")
