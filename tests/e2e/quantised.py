"""What tests of quantised models have in common: a full model, a text, and what a quantised one loses on it."""
import json

import pytest

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps until the morning comes again. " * 40


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def full(oracle):
    return oracle / "models" / "llama_q"


def types(adit, model):
    return {tensor["name"]: tensor["type"] for tensor in json.loads(adit.ok("show", model, "--json"))["tensors"]}


def kld(adit, model, base, text, *flags):
    out = adit.ok("eval", "kld", model, "--base", base, "-f", text, "--ctx", "64", "--json", *flags)
    return json.loads(out)["mean_kld"]


def kld_of_reference(adit, model, base, text):
    """With the reference kernels."""
    return kld(adit, model, base, text, "--isa", "ref")
