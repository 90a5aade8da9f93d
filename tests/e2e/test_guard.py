"""Rules for what is asked and answered, through the interfaces that clients use."""
import json

import pytest
from server import Server

RULES = """
max_match_bytes = 128
[[rule]]
name = "mail"
action = "redact"
pii = "email"
replacement = "<mail>"

[[rule]]
name = "project"
action = "block"
words = ["project heron"]

[[rule]]
name = "vowels"
action = "redact"
regex = "[aeiou]"
replacement = "_"
on = "output"
"""
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


def start(adit, model, folder, rules, *flags):
    folder.mkdir(exist_ok=True)
    (folder / "rules.toml").write_text(rules)
    (folder / "template.jinja").write_text(TEMPLATE)
    return Server(adit, model, folder, "--guard", folder / "rules.toml", "--chat-template", folder / "template.jinja",
                  "--alias", "tiny", *flags)


@pytest.fixture(scope="module")
def server(adit, tiny_gguf, tmp_path_factory):
    with start(adit, tiny_gguf, tmp_path_factory.mktemp("server"), RULES) as started:
        yield started.wait_ready()


# Of each interface: where it is, a request, and the text of an answer.
def chat(text, **more):
    return "/v1/chat/completions", {"messages": [{"role": "user", "content": text}], **more}


def completion(text, **more):
    return "/v1/completions", {"prompt": text, **more}


def messages(text, **more):
    return "/v1/messages", {"messages": [{"role": "user", "content": text}], **more}


def responses(text, **more):
    return "/v1/responses", {"input": text, "max_output_tokens": more.pop("max_tokens", 20), **more}


def text_of(path, answer):
    if path.endswith("/completions"):
        choice = answer["choices"][0]
        return choice["message"]["content"] if "message" in choice else choice["text"]
    if path.endswith("messages"):
        return "".join(block["text"] for block in answer["content"])
    return "".join(part["text"] for item in answer["output"] for part in item["content"])


def events(raw):
    for event in raw.decode().split("\n\n"):
        data = [line[6:] for line in event.split("\n") if line.startswith("data: ")]
        if data and data[0] != "[DONE]":
            yield json.loads(data[0])


def streamed_text(raw):
    text = ""
    for event in events(raw):
        for choice in event.get("choices", []):
            text += choice.get("text") or choice.get("delta", {}).get("content") or ""
        delta = event.get("delta")
        text += delta if isinstance(delta, str) else (delta or {}).get("text", "")
    return text


@pytest.mark.parametrize("ask", [chat, completion, messages, responses])
def test_requests_are_blocked_in_the_interface_s_own_words(server, ask):
    path, body = ask("about Project  Heron", max_tokens=4)
    status, _, raw = server.ask("POST", path, body)
    error = json.loads(raw)["error"]
    assert status == 400 and "'project'" in error["message"] and error["type"] == "invalid_request_error"
    if ask is not messages:
        assert error["code"] == "content_filter"


@pytest.mark.parametrize("ask", [chat, completion, messages, responses])
def test_a_stream_says_what_the_whole_answer_says(server, ask):
    path, body = ask("write to ann@example.org", max_tokens=30, temperature=0)
    if path == "/v1/completions":
        body["ignore_eos"] = True
    whole = server.json("POST", path, body)
    text = text_of(path, whole)
    assert not set(text) & set("aeiou"), text
    told = streamed_text(server.ask("POST", path, {**body, "stream": True})[2])
    assert told == text
    verdicts = (whole["choices"][0] if "choices" in whole else whole)["adit"]["guard"]
    assert {(verdict["rule"], verdict["side"]) for verdict in verdicts} >= {("mail", "input")}


@pytest.mark.parametrize("ask,where,reason", [
    (chat, lambda a: a["choices"][0]["finish_reason"], "content_filter"),
    (completion, lambda a: a["choices"][0]["finish_reason"], "content_filter"),
    (messages, lambda a: a["stop_reason"], "refusal"),
    (responses, lambda a: a["incomplete_details"]["reason"], "content_filter")])
def test_answers_end_where_a_rule_says(adit, tiny_gguf, tmp_path, ask, where, reason):
    path, body = ask("abc", max_tokens=40, temperature=0)
    if path == "/v1/completions":
        body["ignore_eos"] = True
    rules = "[[rule]]\nname='never'\naction='block'\nregex='%s'\non='output'\n"
    with start(adit, tiny_gguf, tmp_path / "plain", rules % "no such text at all") as server:
        plain = text_of(path, server.wait_ready().json("POST", path, body))
    assert len(plain) > 12
    ends = plain[8:11]
    with start(adit, tiny_gguf, tmp_path / "guarded", rules.replace("'%s'", json.dumps(f"\\Q{ends}\\E"))) as server:
        answer = server.wait_ready().json("POST", path, body)
        assert text_of(path, answer) == plain[:plain.index(ends)]
        assert where(answer) == reason
        raw = server.ask("POST", path, {**body, "stream": True})[2]
        assert streamed_text(raw) == plain[:plain.index(ends)]
        assert reason in raw.decode()
        server.wait(server.idle, "the engine goes on for nobody")
        log = server.log.read_text()
        assert "guard=never:block:output:1" in log and ends not in log
        assert server.metric('adit_guard_verdicts_total{action="block",rule="never",side="output"}') == 2


def test_what_is_stored_is_what_passed(server):
    path, body = responses("I am ann@example.org", max_tokens=4)
    kept = server.json("POST", path, {**body, "store": True})
    items = server.json("GET", f"/v1/responses/{kept['id']}/input_items")
    assert "ann@example.org" not in json.dumps(items) and "<mail>" in json.dumps(items)


def test_moderations_with_openai_s_client(server):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none")
    result = client.moderations.create(input="mail ann@example.org about project heron").results[0]
    found = {name for name, is_found in result.categories.to_dict().items() if is_found}
    assert result.flagged and found == {"mail", "project", "vowels"}
    assert not client.moderations.create(input="hmm").results[0].flagged


def test_wrong_rules_are_refused_at_the_start(adit, tiny_gguf, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\nname = 'a'\naction = 'block'\nregex = '['\n")
    message = adit.fails(2, "serve", tiny_gguf, "--guard", rules)
    assert f"{rules}:4: rule 'a': the expression is wrong at byte 1" in message
