"""adit template."""
import json

import pytest


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_prints_the_text_and_nothing_else(adit, write):
    source = write("t.jinja", "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{{ n }}\n")
    context = write("c.json", json.dumps({"messages": [{"role": "user", "content": "Zoë\n😀"}], "n": None}))
    assert adit.ok("template", source, "--context", context).decode() == "[user]Zoë\n😀None"
    assert adit.ok("template", source, "--context", "-", input=context.read_text()).decode() == "[user]Zoë\n😀None"
    assert adit.ok("template", "-", "--context", context, input=source.read_text()).decode() == "[user]Zoë\n😀None"
    assert adit.ok("template", write("plain.jinja", "x")) == b"x"


def test_the_clock_can_be_set(adit, write):
    source = write("t.jinja", "{{ strftime_now('%A %d %B %Y %H:%M:%S, day %j') }}")
    assert adit.ok("template", source, "--now", "2024-07-26T12:34:56") == b"Friday 26 July 2024 12:34:56, day 208"
    assert b"2024" not in adit.ok("template", source)
    assert "is no date and time" in adit.fails(2, "template", source, "--now", "noon")


def test_a_models_template(adit, smollm2, write):
    context = {"messages": [{"role": "user", "content": "Hello!"}], "add_generation_prompt": True}
    context = write("c.json", json.dumps(context))
    assert adit.ok("template", smollm2, "--context", context).decode() == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n")


def test_errors_have_line_and_cause(adit, write):
    assert "line 2" in adit.fails(5, "template", write("syntax.jinja", "a\n{% if %}"))
    refuses = write("refuses.jinja", "{{ raise_exception('no system role') }}")
    assert "no system role" in adit.fails(5, "template", refuses)
    adit.fails(5, "template", write("deep.jinja", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"))
    fine = write("fine.jinja", "x")
    for context in ("", "[]", "{", "nonsense"):
        adit.fails(5, "template", fine, "--context", write("c.json", context))
    assert "no such file" in adit.fails(2, "template", fine, "--context", "absent.json")
    assert "no such file" in adit.fails(2, "template", "absent.jinja")


def test_a_model_without_a_template_says_so(adit, tiny_gguf):
    assert adit.ok("show", tiny_gguf, "--template") == b""
    assert "has no chat template" in adit.fails(5, "template", tiny_gguf)


def test_templates_of_real_models_agree_with_their_goldens(adit, oracle, tmp_path):
    folder = oracle / "chat_template"
    conversations = json.loads((folder / "conversations.json").read_text())
    contexts = {entry["name"]: entry["context"] for entry in conversations["conversations"]}
    name = "Qwen-Qwen3-0.6B"
    golden = json.loads((folder / f"templates/{name}.json").read_text())
    for case in golden["cases"]:
        context = {**contexts[case["conversation"]], "add_generation_prompt": case["add_generation_prompt"],
                   "bos_token": golden["bos_token"], "eos_token": golden["eos_token"]}
        done = adit.run("template", folder / f"templates/{name}.jinja", "--context", "-", "--now", conversations["now"],
                        input=json.dumps(context))
        if "output" in case:
            assert done.stdout.decode() == case["output"], case["conversation"]
        elif case["error"] == "TemplateError":
            assert done.returncode == 5
