"""Every family as a small model of random weights (tools/random_model.py): it loads, computes and answers."""
import json
import math
import pathlib
import struct
import sys

import pytest

pytest.importorskip("gguf", reason="scripts/setup test installs it")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import random_model  # noqa: E402

DECODERS = sorted(name for name, family in random_model.FAMILIES.items() if not family.encoder)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")

    def path(name):
        file = folder / f"{name}.gguf"
        if not file.exists():
            random_model.write_model(file, name, matrix_type="q8_0")
        return file

    return path


def logits(file):
    data = file.read_bytes()
    (header,) = struct.unpack_from("<Q", data)
    begin, end = json.loads(data[8:8 + header])["logits"]["data_offsets"]
    return struct.unpack_from(f"<{(end - begin) // 4}f", data, 8 + header + begin)


@pytest.mark.parametrize("name", DECODERS)
def test_a_family_computes_the_same_with_all_kernels(adit, models, tmp_path, name):
    ids = ",".join(str(i * 7 % 256) for i in range(40))
    rows = []
    for isa in ("ref", "auto"):
        out = tmp_path / f"{isa}.safetensors"
        adit.ok("logits", models(name), "--tokens", ids, "-o", out, "--isa", isa, "--activation-terms", "two",
                "--kv-type", "f32")
        rows.append(logits(out))
    assert all(math.isfinite(x) for x in rows[0])
    deviation = math.sqrt(sum(x * x for x in rows[0]) / len(rows[0]))
    assert max(abs(a - b) for a, b in zip(*rows)) < 0.02 * deviation


@pytest.mark.parametrize("name", DECODERS)
def test_a_family_answers(adit, models, name):
    arguments = ("run", models(name), "hello", "--raw", "--temp", 0, "-n", 12, "--ignore-eos")
    done = adit.run(*arguments)
    assert done.returncode == 0, done.stderr
    assert adit.run(*arguments, "--threads", 1).stdout == done.stdout


@pytest.mark.parametrize("name", DECODERS)
def test_a_family_is_shown_as_one_that_runs(adit, models, name):
    assert b"not supported" not in adit.ok("show", models(name))


@pytest.mark.parametrize("kind", sorted(random_model.TYPES))
def test_a_type_of_weights_computes_the_same_with_all_kernels(adit, tmp_path, kind):
    model = tmp_path / "model.gguf"
    random_model.write_model(model, "llama", matrix_type=kind)
    assert kind.upper() in [row["type"] for row in json.loads(adit.ok("show", model, "--json"))["types"]]
    ids = ",".join(str(i * 7 % 256) for i in range(20))
    rows = []
    for isa in ("ref", "auto"):
        out = tmp_path / f"{isa}.safetensors"
        adit.ok("logits", model, "--tokens", ids, "-o", out, "--isa", isa, "--activation-terms", "two", "--kv-type", "f32")
        rows.append(logits(out))
    deviation = math.sqrt(sum(x * x for x in rows[0]) / len(rows[0]))
    assert 0 < deviation < math.inf
    # The set that multiplies pairs of BF16 rounds activations too.
    bound = 0.04 if kind == "bf16" and "avx512bf16 available, used" in str(adit.ok("doctor")) else 0.02
    assert max(abs(a - b) for a, b in zip(*rows)) < bound * deviation


@pytest.mark.parametrize("kind", ["tq1_0", "tq2_0", "mxfp4"])
def test_types_of_few_values_are_made_while_loading_and_ahead(adit, tmp_path, kind):
    model, out = tmp_path / "f32.gguf", tmp_path / "out.gguf"
    family = random_model.FAMILIES["llama"]
    random_model.Writer(model, "llama", family, random_model.tiny(family.big, 256), "f32", seed=1).write()
    adit.ok("convert", model, out, "--type", kind)
    types = {tensor["name"]: tensor["type"] for tensor in json.loads(adit.ok("show", out, "--json"))["tensors"]}
    assert types["blk.0.ffn_down.weight"] == kind.upper()
    assert types["token_embd.weight"] == "Q8_0"
    rows = []
    for file, flags in ((out, ()), (model, ("--quantization", kind)), (model, ())):
        adit.ok("logits", file, "--tokens", "1,2,3,4,5,6,7,8", "-o", tmp_path / "logits", "--isa", "ref", *flags)
        rows.append(logits(tmp_path / "logits"))
    deviation = math.sqrt(sum(x * x for x in rows[0]) / len(rows[0]))
    # The embedding is quantised too when it is done ahead.
    assert max(abs(a - b) for a, b in zip(*rows[:2])) < 0.2 * deviation
    assert max(abs(a - b) for a, b in zip(*rows[1:])) > 0.01 * deviation
