"""Rules for what is asked and answered, through the interfaces that clients use."""
import json
import re

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
    with start(adit, tiny_gguf, tmp_path_factory.mktemp("server"), RULES, "--compat", "ollama") as started:
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


JUDGE = ("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
         "Say nothing but safe.")


def test_what_the_guard_model_does_not_call_safe_does_not_pass(adit, tiny_gguf, tmp_path):
    """A model of random weights says neither safe nor unsafe: nothing passes."""
    (tmp_path / "judge.jinja").write_text(JUDGE)
    flags = ("--guard-model", tiny_gguf, "--guard-template", tmp_path / "judge.jinja")
    with start(adit, tiny_gguf, tmp_path, "[[rule]]\nname='a'\naction='flag'\nregex='zebra'\n", *flags) as server:
        server.wait_ready()
        path, body = chat("hello", max_tokens=4)
        status, _, raw = server.ask("POST", path, body)
        assert status == 400 and json.loads(raw)["error"]["code"] == "content_filter"
        result = server.json("POST", "/v1/moderations", {"input": ["hello", "zebra"]})["results"]
        assert [one["flagged"] for one in result] == [True, True]
        assert result[0]["categories"]["unclear"] and not result[0]["categories"]["a"] and result[1]["categories"]["a"]
        assert server.metric('adit_guard_verdicts_total{action="block",rule="guard-model",side="input"}') >= 1


def test_answers_are_told_when_the_guard_model_has_judged_them(adit, tiny_gguf, tmp_path):
    (tmp_path / "judge.jinja").write_text(JUDGE)
    flags = ("--guard-model", tiny_gguf, "--guard-template", tmp_path / "judge.jinja", "--guard-model-on", "output")
    rule = "[[rule]]\nname='a'\naction='flag'\nregex='zebra'\n"
    path, body = chat("hello", max_tokens=8, temperature=0)
    with start(adit, tiny_gguf, tmp_path / "strict", rule, *flags) as server:
        answer = server.wait_ready().json("POST", path, body)["choices"][0]
        assert answer["finish_reason"] == "content_filter" and not answer["message"]["content"]
        assert answer["adit"]["guard"][0]["rule"] == "guard-model"
        assert streamed_text(server.ask("POST", path, {**body, "stream": True})[2]) == ""
    # What it says of the answer, asked in the same way: a word of it stands for safe.
    with start(adit, tiny_gguf, tmp_path / "plain", rule) as server:
        plain = server.wait_ready().json("POST", path, body)["choices"][0]["message"]["content"]
    (tmp_path / "asks").mkdir()
    with Server(adit, tiny_gguf, tmp_path / "asks", "--chat-template", tmp_path / "judge.jinja") as server:
        asked = {"messages": [*body["messages"], {"role": "assistant", "content": plain}], "max_tokens": 32, "temperature": 0}
        said = server.wait_ready().json("POST", path, asked)["choices"][0]["message"]["content"]
    word = re.findall(r"[a-z0-9_]+", said.lower())[0]
    with start(adit, tiny_gguf, tmp_path / "mild", rule, "--guard-safe", word, *flags) as server:
        answer = server.wait_ready().json("POST", path, body)["choices"][0]
        assert answer["finish_reason"] == "length" and answer["message"]["content"] == plain
        assert streamed_text(server.ask("POST", path, {**body, "stream": True})[2]) == plain


def test_no_way_leads_around_the_rules(server):
    """Ollama's interface, asked as by curl without a content type, and batches."""
    good, bad = ([{"role": "user", "content": text}] for text in ("hello", "about project heron"))
    chat = lambda messages: server.ask("POST", "/api/chat", json.dumps(
        {"model": "tiny", "messages": messages, "stream": False, "options": {"num_predict": 8}}).encode(),
        {"Content-Type": "application/x-www-form-urlencoded"})
    status, _, body = chat(good)
    assert status == 200 and not re.search("[aeiou]", json.loads(body)["message"]["content"])
    status, _, body = chat(bad)
    assert status == 400 and "project" in json.loads(body)["error"]

    lines = [{"custom_id": name, "method": "POST", "url": "/v1/chat/completions",
              "body": {"model": "tiny", "messages": messages, "max_tokens": 8}}
             for name, messages in (("good", good), ("bad", bad))]
    form = b"".join(b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % part for part in [
        (b"purpose", b"", b"batch"),
        (b"file", b'; filename="in.jsonl"', "\n".join(map(json.dumps, lines)).encode())]) + b"--x--\r\n"
    upload = server.ask("POST", "/v1/files", form, {"Content-Type": "multipart/form-data; boundary=x"})
    assert upload[0] == 200, upload
    batch = server.json("POST", "/v1/batches", {"input_file_id": json.loads(upload[2])["id"],
                                                "endpoint": "/v1/chat/completions", "completion_window": "24h"})
    ended = lambda: server.json("GET", f"/v1/batches/{batch['id']}")["status"] == "completed"
    server.wait(ended, "the batch does not end")
    batch = server.json("GET", f"/v1/batches/{batch['id']}")
    results = [json.loads(server.ask("GET", f"/v1/files/{batch[name]}/content")[2])
               for name in ("output_file_id", "error_file_id")]
    assert [result["custom_id"] for result in results] == ["good", "bad"]
    answer = results[0]["response"]["body"]["choices"][0]["message"]["content"]
    assert not re.search("[aeiou]", answer)
    assert results[1]["response"]["body"]["error"]["code"] == "content_filter"
