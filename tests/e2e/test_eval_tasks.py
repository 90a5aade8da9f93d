"""adit eval gsm8k and adit eval needle."""
import json

import pytest

FILLER = "The river runs past the old town, and boats go up and down all day. Nobody counts them. " * 200


def ask(adit, *arguments, **kwargs):
    return json.loads(adit.ok("eval", *arguments, "--json", **kwargs))


def gsm8k(count, question="What is {} plus 0?"):
    """Examples that all show their number, so that a model which copies gets them right."""
    return "".join(json.dumps({"question": question.format(n), "answer": f"It is {n}.\n#### {n}"}) + "\n"
                   for n in range(11, 11 + count))


def test_gsm8k_counts_the_numbers_of_answers(adit, smollm2, tmp_path):
    items = tmp_path / "items.jsonl"
    items.write_text(gsm8k(7))
    answer = ask(adit, "gsm8k", smollm2, "-f", items, "--shots", 4, "--max-tokens", 24)
    assert answer["items"] == 3 and answer["examples"] == 4
    # The pattern is copied; the same answers, made by another way, are what is counted.
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    shots = "".join(f"Question: {line['question']}\nAnswer: {line['answer']}\n\n" for line in lines[:4])
    right = strict = 0
    for line in lines[4:]:
        text = adit.ok("run", smollm2, shots + f"Question: {line['question']}\\nAnswer:", "--raw", "-n", "24", "--temp",
                       "0").decode().split("Question:")[0]
        wanted = line["answer"].split("#### ")[1]
        strict += f"#### {wanted}" in text
        digits = [word.strip(".,$\n") for word in text.split() if any(c.isdigit() for c in word)]
        right += bool(digits) and digits[-1] == wanted
    assert answer["strict_match"] == pytest.approx(strict / 3)
    assert answer["exact_match"] == pytest.approx(right / 3)
    assert right > 0


def test_a_needle_is_found_where_the_model_can_look(adit, qwen, tmp_path):
    text = tmp_path / "text"
    text.write_text(FILLER)
    answer = ask(adit, "needle", qwen, "-f", text, "--lengths", "192,256", "--depths", "0,50,100")
    cells = answer["cells"]
    assert [(cell["tokens"], cell["depth_percent"]) for cell in cells] == [(n, d) for n in (192, 256) for d in (0, 50, 100)]
    assert all(cell["asked"] == 1 for cell in cells)
    assert answer["accuracy"] == sum(cell["found"] for cell in cells) / 6
    assert answer["accuracy"] > 0.5
    shown = adit.ok("eval", "needle", qwen, "-f", text, "--lengths", "192", "--depths", "50").decode()
    assert "50 %" in shown and "found" in shown


def test_what_is_wrong_is_told(adit, tiny_gguf, tmp_path):
    items, empty = tmp_path / "items", tmp_path / "empty"
    items.write_text('{"question":"a","answer":"#### 1"}\n{"question":"a","answer":"one"}\n')
    empty.write_text("")
    assert "items:2: \"answer\" has no number" in adit.fails(5, "eval", "gsm8k", tiny_gguf, "-f", items)
    assert "--ctx" in adit.fails(2, "eval", "gsm8k", tiny_gguf, "-f", items, "--limit", 1, "--ctx", 16)
    assert "empty" in adit.fails(2, "eval", "needle", tiny_gguf, "-f", empty, "--lengths", "100")
    items.write_text(FILLER)
    assert "context" in adit.fails(2, "eval", "needle", tiny_gguf, "-f", items, "--lengths", str(1 << 20))
    assert "no room" in adit.fails(2, "eval", "needle", tiny_gguf, "-f", items, "--lengths", "100")
