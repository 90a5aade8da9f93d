"""Answers held to a schema, a grammar or calls of tools: what comes is valid, whatever the model would like to say."""
import enum
import json
import random
import time

import pytest
from server import Server, events

openai = pytest.importorskip("openai", reason="scripts/setup test installs the openai package")
jsonschema = pytest.importorskip("jsonschema", reason="scripts/setup test installs the jsonschema package")
pydantic = pytest.importorskip("pydantic")

MESSAGES = [{"role": "user", "content": "Describe a person."}]

THINKING = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}{# </think> #}")


def is_refused(answer, code):
    status, _, body = answer
    error = json.loads(body).get("error", {})
    return status in (400, 501) and error["code"] == code and error


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with Server(adit, smollm2, tmp_path_factory.mktemp("server"), "--alias", "smol", "--kv-tokens", "16384") as started:
        started.wait_ready()
        if is_refused(started.ask("POST", "/v1/chat/completions",
                                  {"messages": MESSAGES, "response_format": {"type": "json_object"},
                                   "max_tokens": 1}), "not_supported"):
            pytest.skip("this build has no XGrammar")
        yield started


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(scope="module")
def tools(adit, qwen, tmp_path_factory, server):
    with Server(adit, qwen, tmp_path_factory.mktemp("tools"), "--alias", "qwen", "--kv-tokens", "8192") as started:
        started.wait_ready()
        with openai.OpenAI(base_url=started.url + "/v1", api_key="none", max_retries=0) as made:
            yield made


class Colour(str, enum.Enum):
    red = "red"
    blue = "blue"


class Pet(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=12)
    age: int = pydantic.Field(ge=0, le=20)


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=20)
    age: int = pydantic.Field(ge=0, le=120)
    colour: Colour
    pets: list[Pet] = pydantic.Field(max_length=2)
    nick: str | None = pydantic.Field(max_length=8)


def test_parse_gives_the_model(client):
    for seed in range(3):
        answer = client.chat.completions.parse(model="smol", messages=MESSAGES, response_format=Person, seed=seed,
                                               max_tokens=400)
        person = answer.choices[0].message.parsed
        assert isinstance(person, Person), answer
        assert answer.choices[0].finish_reason == "stop"
        assert list(json.loads(answer.choices[0].message.content)) == ["name", "age", "colour", "pets", "nick"]


def test_streams_and_whole_answers_are_the_same(client):
    asked = dict(model="smol", messages=MESSAGES, seed=5, max_tokens=300, logprobs=True,
                 response_format={"type": "json_schema",
                                  "json_schema": {"name": "p", "strict": True, "schema": Person.model_json_schema()}})
    whole = client.chat.completions.create(**asked)
    streamed = "".join(chunk.choices[0].delta.content or ""
                       for chunk in client.chat.completions.create(**asked, stream=True))
    assert streamed == whole.choices[0].message.content
    Person.model_validate_json(streamed)
    assert all(token.logprob <= 0 for token in whole.choices[0].logprobs.content)


SCHEMAS = [
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    {"type": "array", "items": {"type": "integer"}, "maxItems": 0},
    {"type": "object", "patternProperties": {"^x_[a-z]{1,3}$": {"type": "integer"}}, "additionalProperties": False,
     "maxProperties": 3},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
     "required": ["a"], "additionalProperties": False},
    {"type": "integer", "minimum": -3, "maximum": 12},
    {"type": "number", "minimum": -1.5, "exclusiveMaximum": 2.25},
    {"type": "object", "properties": {'q"\n': {"enum": ["é", 1, None, {"a": [1]}]}}, "required": ['q"\n']},
    {"oneOf": [{"type": "boolean"}, {"type": "string", "format": "date"}]},
    {"$defs": {"n": {"type": "object", "properties": {
        "v": {"type": "integer", "minimum": 0, "maximum": 9},
        "c": {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 1}},
        "required": ["v"], "additionalProperties": False}}, "$ref": "#/$defs/n"},
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$", },
    {"prefixItems": [{"type": "string", "maxLength": 4}, {"type": "boolean"}], "items": False, "minItems": 2},
]


def test_whatever_is_drawn_is_valid(server):
    """At a high temperature, and from a witness that knows nothing of us."""
    checked = 0
    for schema in SCHEMAS:
        body = server.json("POST", "/v1/completions", {
            "prompt": "x", "n": 8, "max_tokens": 80, "temperature": 1.8, "seed": 1,
            "structured_outputs": {"json": schema, "disable_any_whitespace": True}})
        for choice in body["choices"]:
            if choice["finish_reason"] == "stop":
                jsonschema.validate(json.loads(choice["text"]), schema, format_checker=jsonschema.FormatChecker())
                checked += 1
    assert checked > 60


def test_a_random_model_is_held_too(adit, tiny_gguf, tmp_path):
    lines = [{"custom_id": f"{i}-{seed}", "method": "POST", "url": "/v1/completions",
              "body": {"prompt": "a", "max_tokens": 90, "temperature": 1.0, "seed": seed,
                       "structured_outputs": {"json": schema, "disable_any_whitespace": True}}}
             for i, schema in enumerate(SCHEMAS) for seed in range(6)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = adit.run("batch", tmp_path / "in.jsonl", tmp_path / "out.jsonl", tiny_gguf)
    assert done.returncode == 0, done.stderr.decode()
    results = [json.loads(row) for row in (tmp_path / "out.jsonl").read_text().split("\n")[:-1]]
    if results[0]["response"]["body"].get("error", {}).get("code") == "not_supported":
        pytest.skip("this build has no XGrammar")
    ended = 0
    for result in results:
        choice = result["response"]["body"]["choices"][0]
        if choice["finish_reason"] == "stop":
            schema = SCHEMAS[int(result["custom_id"].split("-")[0])]
            jsonschema.validate(json.loads(choice["text"]), schema)
            ended += 1
    assert len(results) == len(lines) and ended > len(lines) // 3


def test_regexes_choices_and_rules(server):
    def text(**fields):
        body = server.json("POST", "/v1/completions", {"prompt": "x", "temperature": 1.5, "max_tokens": 30, **fields})
        assert body["choices"][0]["finish_reason"] == "stop", body
        return body["choices"][0]["text"]

    assert text(guided_regex="[0-9]{3}-[a-f]{2}")[3] == "-"
    assert text(guided_choice=["maybe", "never"]) in ("maybe", "never")
    assert text(grammar='root ::= "(" [xy]{4} ")"')[::5] == "()"
    assert json.loads(text(response_format={"type": "json_schema", "schema": {"const": {"k": [1, "é"]}}})) == {"k": [1, "é"]}
    assert text(response_format={"type": "structural_tag", "format": {
        "type": "tag", "begin": "<n>", "content": {"type": "json_schema", "json_schema": {"enum": [7]}},
        "end": "</n>"}}) == "<n>7</n>"


def test_what_cannot_be_is_refused_at_once(server):
    cases = [
        ({"type": "json_schema", "json_schema": {"schema": {"type": "array", "uniqueItems": True}}},
         "unsupported_schema_feature"),
        ({"type": "json_schema", "json_schema": {"schema": {"$ref": "#"}}}, "invalid_json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"$ref": ""}}}, "invalid_json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"$ref": "http://127.0.0.1:1/x"}}}, "invalid_json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"enum": []}}}, "invalid_json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"type": "array", "maxItems": 10**9}}},
         "invalid_json_schema"),
        ({"type": "json_schema", "json_schema": {"schema": {"type": "string", "pattern": "(" * 60000}}},
         "invalid_json_schema"),
        ({"type": "regex", "pattern": "a(?=b)"}, "invalid_grammar"),
        ({"type": "grammar", "grammar": 'root ::= "a"{5,0}'}, "invalid_grammar"),
        ({"type": "grammar", "grammar": 'root ::= root "a"'}, "invalid_grammar"),
        ({"type": "grammar", "grammar": 'rule ::= "a"'}, "invalid_grammar"),
        ({"type": "grammar", "grammar": "root ::= " + "(" * 60000}, "invalid_grammar"),
        ({"type": "xml"}, "invalid_value"),
    ]
    for format, code in cases:
        start = time.monotonic()
        answer = server.ask("POST", "/v1/chat/completions", {"messages": MESSAGES, "response_format": format})
        error = is_refused(answer, code)
        assert error and error["param"].startswith("response_format"), (str(format)[:200], answer)
        assert time.monotonic() - start < 10
    deep = b'{"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_schema", "json_schema":'
    deep += b'{"schema": ' + b'{"items":' * 100000 + b"{}" + b"}" * 100000 + b"}}}"
    status, _, body = server.ask("POST", "/v1/chat/completions", deep, {"Content-Type": "application/json"})
    assert status == 400 and json.loads(body)["error"]["code"] == "invalid_json"
    assert server.ask("GET", "/health")[0] == 200


def test_large_counts_work(server):
    for schema in [{"type": "array", "items": {"type": "integer"}, "minItems": 10, "maxItems": 1000},
                   {"type": "object", "properties": {"a": {"type": "object", "properties": {
                       "b": {"type": "string", "maxLength": 65536}}, "required": ["b"]}}, "required": ["a"]}]:
        body = server.json("POST", "/v1/completions", {"prompt": "x", "max_tokens": 20, "guided_json": schema,
                                                       "temperature": 0})
        assert body["choices"][0]["text"], body


def test_thoughts_come_before_what_is_held(adit, smollm2, tmp_path, server):
    (tmp_path / "template").write_text(THINKING)
    with Server(adit, smollm2, tmp_path, "--chat-template", tmp_path / "template", "--kv-tokens", "4096") as thinker:
        thinker.wait_ready()
        asked = {"messages": MESSAGES, "max_tokens": 300, "temperature": 0.8, "seed": 2,
                 "logit_bias": {}, "response_format": {"type": "json_schema", "json_schema": {
                     "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}}}
        ended = 0
        for seed in range(6):
            message = thinker.json("POST", "/v1/chat/completions", {**asked, "seed": seed})["choices"][0]
            if message["finish_reason"] != "stop":
                continue
            ended += 1
            assert isinstance(json.loads(message["message"]["content"])["ok"], bool)
        chunks = events(thinker.ask("POST", "/v1/chat/completions", {**asked, "stream": True, "max_tokens": 20})[2])
        assert chunks[-1] == "[DONE]"


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city", "strict": True,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"},
                                                    "unit": {"type": "string", "enum": ["c", "f"]}},
                   "required": ["city", "unit"], "additionalProperties": False}}}
TIME = {"type": "function", "function": {
    "name": "get_time", "description": "Time of a zone",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}}}


def calls_of(answer):
    return [(call.function.name, json.loads(call.function.arguments)) for call in answer.choices[0].message.tool_calls]


def test_required_tools_are_called(tools):
    asked = dict(model="qwen", messages=[{"role": "user", "content": "Tell me a joke."}], tools=[WEATHER, TIME],
                 max_tokens=200, seed=1)
    answer = tools.chat.completions.create(**asked, tool_choice="required")
    assert answer.choices[0].finish_reason == "tool_calls" and answer.choices[0].message.content is None
    for name, arguments in calls_of(answer):
        schema = {tool["function"]["name"]: tool["function"]["parameters"] for tool in (WEATHER, TIME)}[name]
        jsonschema.validate(arguments, schema)
    named = tools.chat.completions.create(**asked, tool_choice={"type": "function", "function": {"name": "get_time"}})
    assert [name for name, _ in calls_of(named)] == ["get_time"]
    one = tools.chat.completions.create(**asked, tool_choice="required", parallel_tool_calls=False)
    assert len(calls_of(one)) == 1
    streamed = []
    for chunk in tools.chat.completions.create(**asked, tool_choice="required", stream=True):
        for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            streamed.append((call.function.name, json.loads(call.function.arguments)))
    assert streamed == calls_of(answer)


def test_strict_tools_are_parsed(tools):
    class GetWeather(pydantic.BaseModel):
        city: str
        unit: Colour

    answer = tools.chat.completions.parse(
        model="qwen", messages=[{"role": "user", "content": "What is the weather in Paris? Use the tool."}],
        tools=[openai.pydantic_function_tool(GetWeather)], max_tokens=200, temperature=0, tool_choice="required")
    assert isinstance(answer.choices[0].message.tool_calls[0].function.parsed_arguments, GetWeather)
    free = tools.chat.completions.create(model="qwen", messages=[{"role": "user", "content": "Say hello."}],
                                         tools=[WEATHER], max_tokens=30, temperature=0, tool_choice="none")
    assert free.choices[0].message.tool_calls is None


def test_run_is_held(adit, smollm2, tmp_path, server):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    (tmp_path / "rules").write_text('root ::= "yes" | "no"')
    flags = ("run", smollm2, "hi", "--temp", "1", "--seed", "1", "-n", "60")
    jsonschema.validate(json.loads(adit.ok(*flags, "--json-schema", tmp_path / "schema.json")), schema)
    assert adit.ok(*flags, "--grammar", tmp_path / "rules").decode().strip() in ("yes", "no")
    assert adit.ok(*flags, "--regex", "[0-9]{4}").decode().strip().isdigit()
    assert isinstance(json.loads(adit.ok(*flags, "--json", "-n", "400", "--temp", "0.2")), dict)
    assert "--regex" in adit.fails(2, *flags, "--regex", "(")
    (tmp_path / "schema.json").write_text('{"not": {}}')
    assert "'not'" in adit.run(*flags, "--json-schema", tmp_path / "schema.json").stderr.decode()
