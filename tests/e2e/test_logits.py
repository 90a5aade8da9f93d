"""adit logits."""
import json
import os
import signal
import struct
import time

import pytest

from conftest import read_safetensors


@pytest.fixture
def logits(adit, tmp_path):
    """Runs adit logits and returns (shape, bytes) of what it wrote."""

    def logits(model, *arguments):
        path = tmp_path / "logits.safetensors"
        assert adit.ok("logits", model, "-o", path, *arguments) == b""
        tensors = read_safetensors(path)
        assert list(tensors) == ["logits"] and tensors["logits"][0] == "F32"
        return tensors["logits"][1:]

    return logits


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


@pytest.fixture(scope="module")
def golden(tiny):
    tensors = read_safetensors(tiny / "llama.safetensors")
    ids = struct.unpack("<40i", tensors["ids"][2])
    return ",".join(map(str, ids)), floats(tensors["logits"][2])


def test_reference_kernels_agree_with_another_engine(logits, tiny_gguf, golden):
    ids, wanted = golden
    shape, data = logits(tiny_gguf, "--tokens", ids, "--all", "--isa", "ref", "--kv-type", "f32")
    assert shape == [40, 259]
    assert max(abs(a - b) for a, b in zip(floats(data), wanted)) < 2e-4


def test_the_last_position_is_the_default(logits, tiny_gguf, golden):
    ids, _ = golden
    shape, last = logits(tiny_gguf, "--tokens", ids)
    assert shape == [1, 259]
    _, every = logits(tiny_gguf, "--tokens", ids, "--all")
    assert every[-len(last):] == last


def test_chunks_and_threads_do_not_change_a_bit(logits, tiny_gguf, golden):
    ids, _ = golden
    whole = logits(tiny_gguf, "--tokens", ids, "--all")
    for chunk, threads in ((1, 1), (2, 2), (7, 1), (16, 3), (40, 2), (100, 1)):
        assert logits(tiny_gguf, "--tokens", ids, "--all", "--chunk", chunk, "--threads", threads) == whole
        assert logits(tiny_gguf, "--tokens", ids, "--chunk", chunk)[1] == whole[1][-259 * 4:]


def test_a_real_model_too(logits, smollm2):
    ids = " ".join(str(7 * i % 49152) for i in range(40))
    whole = logits(smollm2, "--tokens", ids, "--all", "--threads", 1)
    assert whole[0] == [40, 49152]
    assert logits(smollm2, "--tokens", ids, "--all", "--chunk", 9, "--threads", 2) == whole


def test_tokens_from_a_file_or_a_pipe(adit, logits, tiny_gguf, tmp_path):
    from_flag = logits(tiny_gguf, "--tokens", "1,2,3")
    path = tmp_path / "ids"
    path.write_text("[1, 2,\n 3]\n")
    assert logits(tiny_gguf, "--tokens-file", path) == from_flag
    adit.ok("logits", tiny_gguf, "--tokens-file", "-", "-o", tmp_path / "piped", input="1 2 3")
    assert read_safetensors(tmp_path / "piped")["logits"][1:] == from_flag


def test_wrong_tokens(adit, tiny_gguf, tmp_path):
    out = tmp_path / "out"
    context = json.loads(adit.ok("show", tiny_gguf, "--json"))["hyperparameters"]["context_length"]
    assert "token 259 is not in 0..258" in adit.fails(2, "logits", tiny_gguf, "--tokens", "259", "-o", out)
    assert "'x' is no token id" in adit.fails(2, "logits", tiny_gguf, "--tokens", "1,x", "-o", out)
    assert "no tokens" in adit.fails(2, "logits", tiny_gguf, "--tokens", "", "-o", out)
    many = ",".join(["1"] * (context + 1))
    message = adit.fails(2, "logits", tiny_gguf, "--tokens-file", "-", "-o", out, input=many)
    assert f"{context + 1} tokens" in message and str(context) in message
    assert not out.exists()


def test_a_place_that_cannot_be_written(adit, tiny_gguf, tmp_path):
    adit.fails(5, "logits", tiny_gguf, "--tokens", "1", "-o", tmp_path / "absent" / "out")
    adit.fails(2, "logits", tiny_gguf, "--tokens", "1", "-o", tmp_path)
    adit.fails(5, "logits", tiny_gguf, "--tokens", "1", "-o", "/dev/full")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_half_file(adit, smollm2, tmp_path, number):
    ids = ",".join(["5"] * 8000)
    process = adit.start("logits", smollm2, "--tokens", ids, "--all", "--chunk", "16", "-o", tmp_path / "out")
    for _ in range(600):
        if os.listdir(tmp_path):
            break
        time.sleep(0.05)
    assert len(os.listdir(tmp_path)) == 1
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert os.listdir(tmp_path) == []
