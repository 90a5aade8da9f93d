"""adit serve and the anthropic package, unchanged."""
import asyncio
import json

import pytest
from server import Server

anthropic = pytest.importorskip("anthropic", reason="scripts/setup test installs the anthropic package")

ASKED = {"model": "smol", "max_tokens": 24, "extra_body": {"temperature": 0},
         "messages": [{"role": "user", "content": "What is the capital of France?"}]}
# The same without the client.
RAW = {**{key: value for key, value in ASKED.items() if key != "extra_body"}, **ASKED["extra_body"]}


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--api-key", "key",
                "--kv-tokens", "16384") as started:
        yield started.wait_ready({"x-api-key": "key"})


@pytest.fixture(scope="module")
def client(server):
    with anthropic.Anthropic(base_url=server.url, api_key="key", max_retries=0) as made:
        yield made


def test_a_message(client, server):
    message = client.messages.create(**ASKED)
    chat = server.json("POST", "/v1/chat/completions", RAW, {"x-api-key": "key"})
    assert message.type == "message" and message.role == "assistant" and message.model == "smol"
    assert [block.type for block in message.content] == ["text"]
    assert message.content[0].text == chat["choices"][0]["message"]["content"] and "Paris" in message.content[0].text
    assert message.stop_reason == ("end_turn" if chat["choices"][0]["finish_reason"] == "stop" else "max_tokens")
    usage = message.usage
    assert usage.input_tokens + usage.cache_read_input_tokens == chat["usage"]["prompt_tokens"]
    assert usage.output_tokens == chat["usage"]["completion_tokens"]
    assert message._request_id


def test_a_stream_says_the_same(client):
    whole = client.messages.create(**ASKED)
    names = []
    with client.messages.stream(**ASKED) as stream:
        for event in stream:
            names.append(event.type)
        final = stream.get_final_message()
    assert [block.text for block in final.content] == [block.text for block in whole.content]
    assert final.stop_reason == whole.stop_reason
    assert final.usage.output_tokens == whole.usage.output_tokens
    assert names[0] == "message_start" and names[-1] == "message_stop"
    raw = [event.type for event in client.messages.create(**ASKED, stream=True)]
    assert raw[:2] == ["message_start", "content_block_start"]
    assert raw[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(raw[2:-3]) == {"content_block_delta"}
    with client.messages.stream(**ASKED) as stream:
        assert "".join(stream.text_stream) == whole.content[0].text


def test_events_have_their_names(server):
    status, headers, raw = server.ask("POST", "/v1/messages", {**RAW, "stream": True}, {"x-api-key": "key"})
    assert status == 200 and headers["Content-Type"].startswith("text/event-stream")
    for event in raw.decode().split("\n\n")[:-1]:
        name, data = event.split("\n")
        assert name == "event: " + json.loads(data.removeprefix("data: "))["type"]


def test_stop_sequences_and_prefill(client):
    stopped = client.messages.create(**ASKED, stop_sequences=["Paris"])
    assert stopped.stop_reason == "stop_sequence" and stopped.stop_sequence == "Paris"
    assert "Paris" not in stopped.content[0].text
    prefilled = client.messages.create(**{**ASKED, "messages": ASKED["messages"] + [
        {"role": "assistant", "content": "The capital of France is"}]})
    assert "Paris" in prefilled.content[0].text and not prefilled.content[0].text.startswith("The capital")


def test_systems_blocks_and_counts(client, server):
    asked = {**ASKED, "system": [{"type": "text", "text": "You speak French.", "cache_control": {"type": "ephemeral"}}],
             "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]},
                          {"role": "user", "content": "again"}]}
    message = client.messages.create(**asked)
    counted = client.messages.count_tokens(**{key: asked[key] for key in ("model", "system", "messages")})
    assert counted.input_tokens == message.usage.input_tokens + message.usage.cache_read_input_tokens
    plain = client.messages.count_tokens(model="smol", messages=asked["messages"])
    assert plain.input_tokens != counted.input_tokens


def test_errors(server, client):
    for fields, error, kind in [({"model": "claude"}, anthropic.NotFoundError, "not_found_error"),
                                ({"extra_body": {"temperature": 1.5}}, anthropic.BadRequestError, "invalid_request_error"),
                                ({"max_tokens": 9000}, anthropic.BadRequestError, "invalid_request_error"),
                                ({"messages": [{"role": "user", "content": [
                                    {"type": "image", "source": {"type": "url", "url": "http://x/"}}]}]},
                                 anthropic.BadRequestError, "invalid_request_error"),
                                ({"stop_sequences": [""]}, anthropic.BadRequestError, "invalid_request_error"),
                                ({"extra_headers": {"anthropic-version": "1999-01-01"}}, anthropic.BadRequestError,
                                 "invalid_request_error")]:
        with pytest.raises(error) as raised:
            client.messages.create(**{**ASKED, **fields})
        body = raised.value.body
        assert body["type"] == "error" and body["error"]["type"] == kind and body["error"]["message"]
        assert body["request_id"] == raised.value.request_id
    with anthropic.Anthropic(base_url=server.url, api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(anthropic.AuthenticationError) as raised:
            stranger.messages.create(**ASKED)
    assert raised.value.body["error"]["type"] == "authentication_error"
    status, _, raw = server.ask("POST", "/v1/messages", b"x" * (33 << 20), {"x-api-key": "key"})
    assert status == 413 and json.loads(raw)["error"]["type"] == "request_too_large"


def test_tools_need_a_template_that_knows_them(client):
    tool = {"name": "f", "input_schema": {"type": "object"}}
    with pytest.raises(anthropic.BadRequestError) as raised:
        client.messages.create(**ASKED, tools=[tool])
    assert "'tools' is not supported by this model" in raised.value.body["error"]["message"]


def test_many_at_once(server):
    async def ask(client, number):
        async with client.messages.stream(
                **{**ASKED, "messages": [{"role": "user", "content": f"Say the number {number}."}]}) as stream:
            return (await stream.get_final_message()).content

    async def all_of(numbers):
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="key", max_retries=0) as client:
            return await asyncio.gather(*[ask(client, number) for number in numbers])

    together = asyncio.run(all_of(range(8)))
    assert together[3] == asyncio.run(all_of([3]))[0]


WEATHER = {"name": "get_weather", "description": "The weather in a city",
           "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}


def test_tools(adit, qwen_coder, tmp_path):
    with Server(adit, qwen_coder, tmp_path, "--alias", "qwen", "--kv-tokens", "8192", "--ctx", "4096",
                "--tool-call-parser", "llama3_json") as server:
        server.wait_ready()
        with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as client:
            # So small a model leaves the marks around its calls out.
            asked = {"model": "qwen", "max_tokens": 100, "extra_body": {"temperature": 0}, "tools": [WEATHER],
                     "messages": [{"role": "user", "content": "What is the weather in Paris now? Call the tool."}]}
            message = client.messages.create(**asked)
            with client.messages.stream(**asked) as stream:
                streamed = stream.get_final_message()
            assert [(block.type, getattr(block, "text", None), getattr(block, "input", None)) for block in streamed.content] == [
                (block.type, getattr(block, "text", None), getattr(block, "input", None)) for block in message.content]
            calls = [block for block in message.content if block.type == "tool_use"]
            assert calls and message.stop_reason == "tool_use"
            assert calls[0].name == "get_weather" and calls[0].input["city"].startswith("Paris")
            history = [{"role": "assistant", "content": [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in calls]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": [
                    {"type": "text", "text": "It rains, 12 degrees."}]} for call in calls]}]
            answer = client.messages.create(model="qwen", max_tokens=30, extra_body={"temperature": 0},
                                            messages=asked["messages"] + history)
        # The same conversation as a chat.
        chat = server.json("POST", "/v1/chat/completions", {"temperature": 0, "max_tokens": 30, "messages": [
            *asked["messages"],
            {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": {
                "name": call.name, "arguments": json.dumps(call.input)}} for call in calls]},
            *[{"role": "tool", "tool_call_id": call.id, "content": "It rains, 12 degrees."} for call in calls]]})
        assert answer.content[0].text == chat["choices"][0]["message"]["content"]
        assert answer.usage.input_tokens + answer.usage.cache_read_input_tokens == chat["usage"]["prompt_tokens"]
