"""adit serve and the client that most programs use: the openai package, unchanged."""
import asyncio
import json
import re

import pytest
from server import Server

openai = pytest.importorskip("openai", reason="scripts/setup test installs the openai package")

ASKED = {"model": "smol", "messages": [{"role": "user", "content": "What is the capital of France?"}],
         "temperature": 0, "max_tokens": 24}


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--api-key", "key",
                "--kv-tokens", "16384") as started:
        yield started.wait_ready({"Authorization": "Bearer key"})


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="key", max_retries=0) as made:
        yield made


def test_chats(client):
    answer = client.chat.completions.create(**ASKED)
    assert "Paris" in answer.choices[0].message.content
    assert answer.choices[0].message.role == "assistant" and answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason in ("stop", "length")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.object == "chat.completion" and answer.model == "smol"
    assert re.fullmatch(r"fp_[^_]+_[0-9a-f]{10}_\w+", answer.system_fingerprint) and answer.service_tier == "default"
    flexible = client.chat.completions.create(**ASKED, service_tier="flex")
    assert flexible.service_tier == "flex" and flexible.system_fingerprint == answer.system_fingerprint
    assert {chunk.system_fingerprint for chunk in client.chat.completions.create(**ASKED, stream=True)} == {
        answer.system_fingerprint}


def test_streams(client):
    whole = client.chat.completions.create(**ASKED, seed=3, n=2)
    texts, usage, reasons = ["", ""], None, {}
    for chunk in client.chat.completions.create(**ASKED, seed=3, n=2, stream=True,
                                                stream_options={"include_usage": True}):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
            if choice.finish_reason:
                reasons[choice.index] = choice.finish_reason
        usage = chunk.usage or usage
    assert texts == [choice.message.content for choice in whole.choices]
    assert reasons == {choice.index: choice.finish_reason for choice in whole.choices}
    assert usage.completion_tokens == whole.usage.completion_tokens


def test_the_helper_for_streams(client):
    with client.chat.completions.stream(**ASKED) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    assert "Paris" in final.choices[0].message.content


def test_logprobs(client):
    answer = client.chat.completions.create(**ASKED, logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert b"".join(bytes(token.bytes) for token in content).decode() == answer.choices[0].message.content
    for token in content:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
    streamed = []
    for chunk in client.chat.completions.create(**ASKED, logprobs=True, top_logprobs=3, stream=True):
        if chunk.choices[0].logprobs:
            streamed += chunk.choices[0].logprobs.content
    assert streamed == content


def test_completions(client):
    asked = {"model": "smol", "temperature": 0, "max_tokens": 8}
    both = client.completions.create(prompt=["One, two, three,", "A, B, C,"], **asked)
    assert [choice.index for choice in both.choices] == [0, 1]
    alone = client.completions.create(prompt="A, B, C,", **asked)
    assert alone.choices[0].text == both.choices[1].text
    echoed = client.completions.create(prompt="A, B, C,", echo=True, logprobs=1, **asked)
    assert echoed.choices[0].text == "A, B, C," + alone.choices[0].text
    assert echoed.choices[0].logprobs.token_logprobs[0] is None
    text = "".join(chunk.choices[0].text
                   for chunk in client.completions.create(prompt="A, B, C,", stream=True, **asked))
    assert text == alone.choices[0].text


def test_extra_fields(client):
    answer = client.chat.completions.create(
        **{**ASKED, "temperature": 0.8}, seed=1, stop=["\n"], logit_bias={"5": -100}, user="u",
        extra_body={"top_k": 20, "min_p": 0.05, "repetition_penalty": 1.1, "dry_multiplier": 0.5, "timings": True,
                    "stop_token_ids": [0], "cache_salt": "mine", "samplers": ["top_k", "temperature"]})
    assert answer.choices[0].message.content
    # The engine may be a token ahead of a stop string.
    assert answer.timings["predicted_n"] >= answer.usage.completion_tokens


def test_models(client):
    assert [model.id for model in client.models.list()] == ["smol"]
    assert client.models.retrieve("smol").owned_by == "adit"


def test_errors(server, client):
    for fields, error, code in [({"model": "gpt-4"}, openai.NotFoundError, "model_not_found"),
                                ({"temperature": 9}, openai.BadRequestError, "invalid_value"),
                                ({"messages": [{"role": "user", "content": "x " * 9000}]}, openai.BadRequestError,
                                 "context_length_exceeded"),
                                ({"response_format": {"type": "xml"}}, openai.BadRequestError, "invalid_value")]:
        with pytest.raises(error) as raised:
            client.chat.completions.create(**{**ASKED, **fields})
        assert raised.value.code == code and raised.value.request_id
    with openai.OpenAI(base_url=server.url + "/v1", api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError):
            stranger.models.list()
    with pytest.raises(openai.BadRequestError) as raised:
        client.embeddings.create(model="smol", input="x")
    assert raised.value.param == "model"


def test_many_at_once(server):
    async def ask(client, number):
        stream = await client.chat.completions.create(
            **{**ASKED, "messages": [{"role": "user", "content": f"Say the number {number}."}]}, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def all_of(numbers):
        async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="key", max_retries=0) as client:
            return await asyncio.gather(*[ask(client, number) for number in numbers])

    together = asyncio.run(all_of(range(12)))
    assert together[3:5] == [asyncio.run(all_of([number]))[0] for number in (3, 4)]


TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def test_a_model_whose_template_has_no_tools_says_so(client):
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(**ASKED, tools=TOOLS)
    assert raised.value.param == "tools"
    assert client.chat.completions.create(**ASKED, tools=[]).choices[0].message.content


# A template that shows tools, and writes the last message's text where the model's answer would be: the model goes on
# from it, so that a call can be put into its mouth.
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if tools %}{# <tool_call> #}{{ tools | tojson }}{% endif %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def test_tools(adit, smollm2, tmp_path):
    template = tmp_path / "template.jinja"
    template.write_text(TEMPLATE)
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    with Server(adit, smollm2, tmp_path, "--alias", "smol", "--chat-template", template, "--kv-tokens", "4096") as server:
        server.wait_ready()
        ids = server.json("POST", "/tokenize", {"prompt": call, "add_special_tokens": False,
                                                "parse_special": False})["tokens"]
        with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
            # The history shows the call many times over, so that the model repeats it.
            messages = []
            for city in range(6):
                messages += [{"role": "user", "content": "weather in Paris"}, {"role": "assistant", "content": call}]
            asked = {"model": "smol", "messages": messages + [{"role": "user", "content": "weather in Paris"}],
                     "temperature": 0, "max_tokens": len(ids), "tools": TOOLS,
                     "extra_body": {"allowed_token_ids": sorted(set(ids))}}
            answer = client.chat.completions.create(**asked)
            streamed = {}
            content = ""
            reason = None
            for chunk in client.chat.completions.create(**asked, stream=True):
                content += chunk.choices[0].delta.content or ""
                for delta in chunk.choices[0].delta.tool_calls or []:
                    entry = streamed.setdefault(delta.index, {"name": "", "arguments": "", "id": delta.id})
                    entry["name"] += delta.function.name or ""
                    entry["arguments"] += delta.function.arguments or ""
                reason = chunk.choices[0].finish_reason or reason
    # Whether so small a model calls is its own affair; the stream and the whole answer say the same.
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == reason
    assert content == (message.content or "")
    assert [(entry["name"], entry["arguments"]) for entry in streamed.values()] == [
        (made.function.name, made.function.arguments) for made in message.tool_calls or []]
