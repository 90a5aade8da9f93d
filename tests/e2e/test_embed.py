import json
import math
import pathlib

import pytest

MODEL = pathlib.Path(__file__).resolve().parents[1] / "goldens/models/llama.gguf"
DIM = 32


def numbers(line):
    return [float(word) for word in line.split()]


def test_each_argument_has_a_line(adit):
    lines = adit.ok("embed", MODEL, "one", "another").decode().splitlines()
    assert [len(numbers(line)) for line in lines] == [DIM, DIM]
    assert lines[0] != lines[1]


def test_arguments_files_and_pipes_are_the_same(adit, tmp_path):
    file = tmp_path / "texts"
    file.write_text("one\nanother\n")
    from_arguments = adit.ok("embed", MODEL, "one", "another")
    assert adit.ok("embed", MODEL, "--file", file) == from_arguments
    assert adit.ok("embed", MODEL, input="one\nanother") == from_arguments
    assert adit.ok("embed", MODEL, "--file", "-", input="one\r\nanother\r\n") == from_arguments


def test_a_text_is_the_same_in_any_company(adit):
    alone = adit.ok("embed", MODEL, "one", "--threads", 1)
    lines = adit.ok("embed", MODEL, *(["other words"] * 70), "one").splitlines(keepends=True)
    assert lines[-1] == alone


def test_poolings_are_of_the_same_states(adit):
    def embed(pooling):
        out = adit.ok("embed", MODEL, "some words", "--pooling", pooling).decode()
        return [numbers(line) for line in out.splitlines() if line]

    states = embed("none")
    assert embed("cls") == states[:1]
    assert embed("last") == states[-1:]
    mean = [sum(column) / len(states) for column in zip(*states)]
    assert embed("mean")[0] == pytest.approx(mean, rel=1e-5, abs=1e-6)
    assert embed("mean") == [numbers(adit.ok("embed", MODEL, "some words").decode())]


def test_normalized_embeddings_have_length_one(adit):
    embedding = numbers(adit.ok("embed", MODEL, "some words", "--normalize").decode())
    assert math.hypot(*embedding) == pytest.approx(1.0, abs=1e-6)


def test_json_has_a_line_for_each_text(adit):
    plain = adit.ok("embed", MODEL, "one", "two words").decode().splitlines()
    lines = [json.loads(line) for line in adit.ok("embed", MODEL, "one", "two words", "--json").splitlines()]
    assert [line["index"] for line in lines] == [0, 1]
    assert [line["embedding"] for line in lines] == [numbers(line) for line in plain]
    tokens = [len(adit.ok("tokenize", MODEL, text, "--add-special").replace(b",", b" ").split()) for text in ("one", "two words")]
    assert [line["tokens"] for line in lines] == tokens
    (states,) = [json.loads(line)["embedding"]
                 for line in adit.ok("embed", MODEL, "one", "--json", "--pooling", "none").splitlines()]
    assert len(states) == tokens[0] and all(len(row) == DIM for row in states)


def test_ids_are_what_the_text_becomes(adit):
    ids = adit.ok("tokenize", MODEL, "some words", "--add-special").decode().strip()
    assert adit.ok("embed", MODEL, "--ids", ids) == adit.ok("embed", MODEL, "some words")


def test_no_text_gives_nothing(adit):
    assert adit.ok("embed", MODEL) == b""


def test_what_does_not_fit_is_refused_or_cut(adit):
    long = "x" * 200
    assert "text 1 has 200 tokens, the model takes 128" in adit.fails(2, "embed", MODEL, "y", long)
    cut = adit.ok("embed", MODEL, "--truncate", long)
    assert cut == adit.ok("embed", MODEL, "x" * 128)


def test_bad_arguments_are_named(adit, tmp_path):
    assert "pooling 'max'" in adit.fails(2, "embed", MODEL, "x", "--pooling", "max")
    assert "text 0" in adit.fails(2, "embed", MODEL, "--ids", "1,x")
    assert "token 259 is not in 0..258" in adit.fails(2, "embed", MODEL, "--ids", "259")
    assert "cannot open" in adit.fails(2, "embed", MODEL, "--file", tmp_path / "none")
    assert "text 1 is empty" in adit.fails(2, "embed", MODEL, "x", "")
