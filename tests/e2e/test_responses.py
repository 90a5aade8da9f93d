"""/v1/responses and the openai package, unchanged."""
import asyncio
import hashlib
import time

import pytest
from server import Server

openai = pytest.importorskip("openai", reason="scripts/setup test installs the openai package")

ASKED = {"model": "smol", "input": "What is the capital of France?", "temperature": 0, "max_output_tokens": 24}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("responses")


@pytest.fixture(scope="module")
def server(adit, smollm2, folder, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--kv-tokens", "16384",
                "--response-dir", folder, "--response-store-mb", "1") as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as made:
        yield made


def test_a_response(client, server):
    response = client.responses.create(**ASKED, metadata={"a": "b"}, user="me")
    chat = server.json("POST", "/v1/chat/completions", {
        "messages": [{"role": "user", "content": ASKED["input"]}], "temperature": 0, "max_tokens": 24})
    assert response.object == "response" and response.id.startswith("resp_") and response.model == "smol"
    assert response.output_text == chat["choices"][0]["message"]["content"]
    assert [item.type for item in response.output] == ["message"]
    assert response.usage.input_tokens == chat["usage"]["prompt_tokens"]
    assert response.usage.output_tokens == chat["usage"]["completion_tokens"]
    whole = chat["choices"][0]["finish_reason"] == "stop"
    assert response.status == ("completed" if whole else "incomplete")
    assert response.incomplete_details is None if whole else response.incomplete_details.reason == "max_output_tokens"
    assert response.metadata == {"a": "b"} and response.temperature == 0 and response.max_output_tokens == 24


def test_a_stream_says_the_same(client):
    whole = client.responses.create(**ASKED, store=False)
    events = list(client.responses.create(**ASKED, store=False, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    names = [event.type for event in events]
    assert names[:4] == ["response.created", "response.in_progress", "response.output_item.added",
                         "response.content_part.added"]
    assert names[-4:] == ["response.output_text.done", "response.content_part.done", "response.output_item.done",
                          "response." + whole.status]
    assert set(names[4:-4]) == {"response.output_text.delta"}
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
    last = events[-1].response
    assert last.output_text == whole.output_text and last.usage.output_tokens == whole.usage.output_tokens
    with client.responses.stream(**ASKED) as stream:
        for _ in stream:
            pass
        if whole.status == "completed":
            assert stream.get_final_response().output_text == whole.output_text


def test_logprobs(client):
    response = client.responses.create(**ASKED, include=["message.output_text.logprobs"], top_logprobs=2)
    logprobs = response.output[0].content[0].logprobs
    assert b"".join(bytes(token.bytes) for token in logprobs).decode() == response.output_text
    assert all(len(token.top_logprobs) == 2 for token in logprobs)
    streamed = []
    for event in client.responses.create(**ASKED, top_logprobs=2, stream=True):
        if event.type == "response.output_text.delta":
            streamed += event.logprobs
    assert [token.token for token in streamed] == [token.token for token in logprobs]


def test_conversations(client):
    first = client.responses.create(**{**ASKED, "input": "My name is Alice. Remember it."}, instructions="You are kind.")
    second = client.responses.create(**{**ASKED, "input": "What is my name?"}, previous_response_id=first.id)
    by_hand = client.responses.create(**{**ASKED, "store": False, "input": [
        {"role": "user", "content": "My name is Alice. Remember it."}, *[item.to_dict() for item in first.output],
        {"role": "user", "content": [{"type": "input_text", "text": "What is my name?"}]}]})
    assert second.output_text == by_hand.output_text and second.previous_response_id == first.id
    assert second.usage.input_tokens == by_hand.usage.input_tokens
    items = client.responses.input_items.list(second.id, order="asc").data
    assert [item.role for item in items] == ["user", "assistant", "user"]
    page = client.responses.input_items.list(second.id, limit=2)
    assert page.has_more and page.data[0].id == items[2].id
    assert [item.id for item in page] == [item.id for item in reversed(items)], "the client asks for the next page"
    counted = client.responses.input_tokens.count(model="smol", input="What is my name?", previous_response_id=first.id)
    assert counted.input_tokens == second.usage.input_tokens
    with pytest.raises(openai.BadRequestError) as raised:
        client.responses.create(**ASKED, previous_response_id="resp_none")
    assert raised.value.code == "previous_response_not_found"


def test_stored_responses(client):
    made = client.responses.create(**ASKED)
    again = client.responses.retrieve(made.id)
    assert again == made
    with pytest.raises(openai.BadRequestError):
        client.responses.cancel(made.id)
    client.responses.delete(made.id)
    for action in (client.responses.retrieve, client.responses.delete, client.responses.cancel,
                   client.responses.input_items.list):
        with pytest.raises(openai.NotFoundError) as raised:
            action(made.id)
        assert raised.value.code == "response_not_found"
    for event in client.responses.create(**ASKED, stream=True):
        pass
    assert client.responses.retrieve(event.response.id).output_text == event.response.output_text
    forgotten = client.responses.create(**ASKED, store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(forgotten.id)


def test_what_is_kept_is_bounded_and_survives(adit, smollm2, client, folder, tmp_path):
    large = client.responses.create(**{**ASKED, "max_output_tokens": 1}, metadata={"m": "x" * 4000})
    for _ in range(300):
        client.responses.create(**{**ASKED, "max_output_tokens": 1}, metadata={"m": "x" * 4000})
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 1 << 20
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(large.id)
    kept = client.responses.create(**ASKED)
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    with Server(adit, smollm2, tmp_path, "--alias", "smol", "--kv-tokens", "4096", "--response-dir", folder) as other:
        other.wait_ready()
        assert other.json("GET", "/v1/responses/" + kept.id)["output"] == [item.to_dict() for item in kept.output]


def test_a_client_that_goes_leaves_nothing(server, folder):
    before = {path.name for path in folder.iterdir()}
    connection = server.post("/v1/responses", {**ASKED, "max_output_tokens": 1000, "ignore_eos": True, "stream": True})
    connection.recv(100)
    connection.close()
    server.wait(server.idle, "the request runs on", 20)
    end = time.monotonic() + 10
    while {path.name for path in folder.iterdir()} - before:
        assert time.monotonic() < end, "what was begun is still there"
        time.sleep(0.05)


def test_a_folder_that_cannot_be_written_is_an_error_before_anything_is_made(adit, smollm2, tmp_path):
    folder = tmp_path / "kept"
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "4096", "--response-dir", folder) as server:
        server.wait_ready()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        status, _, raw = server.ask("POST", "/v1/responses", {"input": "hi", "max_output_tokens": 4})
        assert status == 507 and b"insufficient_storage" in raw and b'\\"store\\": false' in raw
        assert server.ask("POST", "/v1/responses", {"input": "hi", "max_output_tokens": 4, "store": False})[0] == 200


def test_tenants_do_not_see_each_others(adit, smollm2, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("".join(f"sha256:{hashlib.sha256(name.encode()).hexdigest()} id={name} tenant={name}\n"
                            for name in ("alice", "bob")))
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "4096", "--api-key-file", keys) as server:
        server.wait_ready({"x-api-key": "alice"})
        made = server.json("POST", "/v1/responses", {"input": "hi", "max_output_tokens": 4}, {"x-api-key": "alice"})
        path = "/v1/responses/" + made["id"]
        assert server.ask("GET", path, headers={"x-api-key": "alice"})[0] == 200
        assert server.ask("GET", path, headers={"x-api-key": "bob"})[0] == 404
        assert server.ask("DELETE", path, headers={"x-api-key": "bob"})[0] == 404
        assert server.ask("POST", "/v1/responses", {"input": "x", "previous_response_id": made["id"]},
                          {"x-api-key": "bob"})[0] == 400


def test_errors(client):
    for fields, param in [({"temperature": 9}, "temperature"), ({"max_output_tokens": 10 ** 7}, "max_output_tokens"),
                          ({"background": True}, "background"), ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
                          ({"input": []}, "input"), ({"input": "x " * 9000}, "input")]:
        with pytest.raises(openai.BadRequestError) as raised:
            client.responses.create(**{**ASKED, **fields})
        assert raised.value.param == param, fields
    with pytest.raises(openai.NotFoundError):
        client.responses.create(**{**ASKED, "model": "gpt-4"})


def test_many_at_once(server):
    async def ask(client, number):
        async with client.responses.stream(**{**ASKED, "input": f"Say the number {number}."}) as stream:
            return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])

    async def all_of(numbers):
        async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
            return await asyncio.gather(*[ask(client, number) for number in numbers])

    together = asyncio.run(all_of(range(8)))
    assert together[3] == asyncio.run(all_of([3]))[0]


def test_tools(adit, qwen_coder, tmp_path):
    tool = {"type": "function", "name": "get_weather", "description": "The weather in a city", "strict": None,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
    with Server(adit, qwen_coder, tmp_path, "--alias", "qwen", "--kv-tokens", "8192", "--ctx", "4096",
                "--tool-call-parser", "llama3_json") as server:
        server.wait_ready()
        with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
            # So small a model leaves the marks around its calls out.
            asked = {"model": "qwen", "temperature": 0, "max_output_tokens": 100, "tools": [tool]}
            question = "What is the weather in Paris now? Call the tool."
            response = client.responses.create(**asked, input=question)
            call = [item for item in response.output if item.type == "function_call"][0]
            assert call.name == "get_weather" and "Paris" in call.arguments
            names, arguments = [], ""
            for event in client.responses.create(**asked, input=question, stream=True):
                names.append(event.type)
                if event.type == "response.function_call_arguments.delta":
                    arguments += event.delta
            assert arguments == call.arguments and "response.function_call_arguments.done" in names
            calls = [item for item in response.output if item.type == "function_call"]
            answer = client.responses.create(
                model="qwen", temperature=0, max_output_tokens=30, previous_response_id=response.id,
                input=[{"type": "function_call_output", "call_id": call.call_id, "output": "It rains, 12 degrees."}
                       for call in calls])
        # The same conversation as a chat.
        text = "".join(item.content[0].text for item in response.output if item.type == "message")
        assert not text, "the model says nothing beside its calls"
        chat = server.json("POST", "/v1/chat/completions", {"temperature": 0, "max_tokens": 30, "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "tool_calls": [{"id": call.call_id, "type": "function", "function": {
                "name": call.name, "arguments": call.arguments}} for call in calls]},
            *[{"role": "tool", "tool_call_id": call.call_id, "content": "It rains, 12 degrees."} for call in calls]]})
        assert answer.output_text == chat["choices"][0]["message"]["content"]
        assert answer.usage.input_tokens == chat["usage"]["prompt_tokens"]
