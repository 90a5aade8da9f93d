"""adit quantize --target-bpw and --report."""
import json
import re

import pytest
from quantised import full, kld_of_reference as kld  # noqa: F401

TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps until the morning comes again. "
WORDS = "One two three four five six seven eight nine ten, and all of them walk over the hill in a long line. "


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text((TEXT + WORDS) * 40)
    return path


def bits(adit, model):
    shown = json.loads(adit.ok("show", model, "--json"))
    return 8 * sum(tensor["bytes"] for tensor in shown["tensors"]) / shown["parameters"]


def test_a_mix_of_a_size_beats_one_type_of_that_size(adit, full, tmp_path, text):
    uniform, mixed = tmp_path / "uniform.gguf", tmp_path / "mixed.gguf"
    for kind in ("q5_0", "q4_0"):
        adit.ok("quantize", full, uniform, kind, "--pure")
        size = bits(adit, uniform)
        told = adit.ok("quantize", full, mixed, "--target-bpw", f"{size:.4f}", "--types", "q4_0,q5_0,q8_0,iq4_nl,q4_1",
                       "--calib", text, "--calib-ctx", "64", "--calib-windows", "8").decode()
        assert bits(adit, mixed) <= size + 1e-4
        assert kld(adit, mixed, full, text) < kld(adit, uniform, full, text)
        assert float(re.search(r"mix of ([0-9.]+) bits", told)[1]) == pytest.approx(bits(adit, mixed), abs=1e-3)


def test_the_prediction_is_near_what_is_measured(adit, full, tmp_path, text):
    mixed = tmp_path / "mixed.gguf"
    told = adit.ok("quantize", full, mixed, "--target-bpw", "6", "--types", "q4_0,q5_0,q8_0", "--calib", text,
                   "--calib-ctx", "64", "--calib-windows", "8").decode()
    predicted = float(re.search(r"predicted: ([0-9.]+) nats", told)[1])
    assert predicted == pytest.approx(kld(adit, mixed, full, text), rel=0.6)


def test_rules_come_before_the_target(adit, full, tmp_path, text):
    out = tmp_path / "out.gguf"
    adit.ok("quantize", full, out, "--target-bpw", "6.5", "--types", "q4_0,q8_0", "--calib", text, "--calib-ctx", "64",
            "--calib-windows", "2", "--tensor-type", "attn_v=q4_1")
    types = {tensor["name"]: tensor["type"] for tensor in json.loads(adit.ok("show", out, "--json"))["tensors"]}
    assert types["blk.0.attn_v.weight"] == "Q4_1"
    assert types["blk.0.attn_norm.weight"] == "F32"
    assert set(types.values()) <= {"Q4_0", "Q8_0", "Q4_1", "F32"}


def test_a_report_compares_and_chooses(adit, full, tmp_path, text):
    page, numbers, out = tmp_path / "out.html", tmp_path / "out.json", tmp_path / "out.gguf"
    shown = adit.ok("quantize", full, out, "--report", page, "--json", numbers, "--types", "q8_0,q5_0,q4_0", "-f", text,
                    "--windows", "4", "--ctx", "64", "--goal", "smallest", "--max-kld", "0.05", "--threads", "2").decode()
    report = json.loads(numbers.read_text())
    assert [candidate["type"] for candidate in report["candidates"]] == ["Q8_0", "Q5_0", "Q4_0"]
    for candidate in report["candidates"]:
        made = tmp_path / "one.gguf"
        adit.ok("quantize", full, made, candidate["type"])
        assert candidate["bits_per_weight"] == pytest.approx(bits(adit, made))
        again = json.loads(adit.ok("eval", "kld", made, "--base", full, "-f", text, "--ctx", "64", "--limit", "4",
                                   "--threads", "2", "--json"))
        # The report keeps what the model predicted in 16 bits.
        assert candidate["mean_kld"] == pytest.approx(again["mean_kld"], rel=0.02, abs=1e-6)
        assert candidate["perplexity"] == pytest.approx(again["perplexity"], rel=1e-4)
        assert candidate["same_top"] == pytest.approx(again["same_top"], abs=0.01)
        assert candidate["decode_tokens_per_s"] > 0 and candidate["prefill_tokens_per_s"] > 0
        assert candidate["peak_bytes"] >= 0
        assert len(candidate["layer_kld_estimate"]) == 2 and all(kld > 0 for kld in candidate["layer_kld_estimate"])
    sums = [sum(candidate["layer_kld_estimate"]) for candidate in report["candidates"]]
    assert sums == sorted(sums)
    fitting = [candidate for candidate in report["candidates"] if candidate["mean_kld"] <= 0.05]
    best = min(fitting, key=lambda candidate: candidate["file_bytes"])["type"]
    assert report["recommendation"]["type"] == best and best in shown
    html = page.read_text()
    assert "<svg" in html and "http" not in html.replace("http-equiv", "") and best in html
    told = adit.ok("show", out).decode()
    assert "same top token" in told and "decode" in told
    kept = json.loads(adit.ok("show", out, "--json", "--metadata"))["metadata"]
    assert kept["adit.quality.type"] == best
    assert kept["adit.quality.mean_kld"] == pytest.approx(min(c["mean_kld"] for c in fitting if c["type"] == best))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.gguf", "out.gguf", "out.html", "out.json", "text.txt"]


def test_a_report_may_recommend_nothing(adit, full, tmp_path, text):
    out, numbers = tmp_path / "out.gguf", tmp_path / "out.json"
    done = adit.run("quantize", full, out, "--json", numbers, "--types", "q4_0", "-f", text, "--windows", "2", "--ctx",
                    "64", "--max-kld", "0")
    assert done.returncode != 0 and b"--max-kld" in done.stderr
    assert json.loads(numbers.read_text())["recommendation"]["type"] is None and not out.exists()


def test_wrong_words_are_told(adit, full, tmp_path, text):
    out = tmp_path / "out.gguf"
    assert "--calib" in adit.fails(2, "quantize", full, out, "--target-bpw", "5")
    message = adit.fails(2, "quantize", full, out, "--target-bpw", "3", "--types", "q4_0,q8_0", "--calib", text,
                         "--calib-ctx", "64")
    assert "the least is 4." in message
    assert "'q9'" in adit.fails(2, "quantize", full, out, "--target-bpw", "5", "--types", "q9", "--calib", text)
    assert "TYPE" in adit.fails(2, "quantize", full, out)
    assert "TYPE" in adit.fails(2, "quantize", full, out, "q4_0", "--target-bpw", "5", "--calib", text)
    assert "OUT" in adit.fails(2, "quantize", full)
    assert "-f FILE" in adit.fails(2, "quantize", full, "--report", tmp_path / "r.html")
    assert "Q4_K_M" in adit.fails(2, "quantize", full, "--report", tmp_path / "r.html", "--types", "q9", "-f", text)
    assert not out.exists() and not (tmp_path / "r.html").exists()
