"""adit bench: loads, reports, and what the ledger says."""
import json
import os

import pytest

SMALL = ("--num-prompts", "60", "--input-len", "uniform:10:200", "--output-len", "lognormal:40:0.8:1:300")


def simulate(adit, *arguments):
    return json.loads(adit.ok("bench", "simulate", *SMALL, "-o", "json", *arguments))


def test_the_same_flags_give_the_same_report(adit):
    arguments = ("bench", "simulate", *SMALL, "--seed", "5", "--request-rate", "20", "--policy", "sjf")
    for form in ("md", "json", "html"):
        assert adit.ok(*arguments, "-o", form) == adit.ok(*arguments, "-o", form)


def test_numbers_agree_with_each_other(adit):
    report = simulate(adit, "--turns", "3", "--shared-prefix", "64")
    assert report["completed"] == report["requests"] == 60
    assert report["output_tokens_per_s"] == pytest.approx(report["output_tokens"] / report["duration_s"])
    assert report["ttft_p50_ms"] <= report["ttft_p90_ms"] <= report["ttft_p99_ms"] <= report["ttft_max_ms"]
    assert report["prefix_hit_percent"] == pytest.approx(
        100 * report["cached_prompt_tokens"] / report["prompt_tokens"])
    assert report["settings"]["turns"] == 3
    timeline = report["timeline"]
    tokens = sum(rate * (end - begin) for begin, end, rate in
                 zip(timeline["begin_s"], timeline["end_s"], timeline["output_tokens_per_s"]))
    assert tokens == pytest.approx(report["output_tokens"])


def test_the_ledger_has_what_each_technique_is_worth(adit):
    report = simulate(adit, "--shared-prefix", "400", "--ablate")
    worth = {row["technique"]: row["worth"] for row in report["ablation"] if row["primary"]}
    assert set(worth) == {"batching", "continuous_batching", "prefix_cache", "chunked_prefill"}
    assert worth["batching"] > 3 and worth["prefix_cache"] > 1.5


def test_a_page_is_written_where_it_is_wanted(adit, tmp_path):
    path = tmp_path / "load.html"
    path.write_text("x" * 1_000_000)
    assert adit.ok("bench", "simulate", *SMALL, "-o", "html", "--output-file", path) == b""
    page = path.read_text()
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n") and page.count("<svg ") == 5


def test_a_trace(adit, tmp_path):
    path = tmp_path / "trace.jsonl"
    lines = [{"timestamp": 1000 * i, "input_length": 600, "output_length": 10, "hash_ids": [1]} for i in range(20)]
    path.write_text("\n".join(map(json.dumps, lines)))
    report = json.loads(adit.ok("bench", "simulate", "--dataset", path, "-o", "json"))
    assert report["completed"] == 20 and report["output_tokens"] == 200
    assert report["prefix_hit_percent"] == pytest.approx(100 * 19 * 512 / (20 * 600))
    assert report["duration_s"] > 19


def test_a_model_against_the_limits(adit, tiny_gguf, tmp_path):
    arguments = ("bench", "model", tiny_gguf, "-p", "32,40", "-n", "4", "-b", "1,2", "-d", "16", "-t", "1", "-r", "2")
    rows = json.loads(adit.ok(*arguments, "-o", "json"))
    assert [(row["n_prompt"], row["n_gen"], row["batch"]) for row in rows] == [
        (32, 0, 1), (40, 0, 1), (0, 4, 1), (32, 0, 2), (40, 0, 2), (0, 4, 2)]
    for row in rows:
        assert row["depth"] == 16 and row["threads"] == 1
        assert 0 < row["tokens_per_s_min"] <= row["tokens_per_s"] <= row["tokens_per_s_max"]
        assert row["bytes_per_token"] > 0 and row["ops_per_token"] > 0
        assert row["share_of_limit"] is None or 0 < row["share_of_limit"] < 1.5
    # Two sequences share the weights, and not the cache.
    assert rows[2]["bytes_per_token"] / 2 < rows[5]["bytes_per_token"] < rows[2]["bytes_per_token"]
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(rows))
    compared = json.loads(adit.ok(*arguments, "-o", "json", "--compare", earlier))
    assert all(row["ratio"] > 0 and row["tokens_per_s_before"] == old["tokens_per_s"]
               for row, old in zip(compared, rows))
    for row in rows:
        row["processor"] = "another"
    earlier.write_text(json.dumps(rows))
    assert "of another machine" in adit.fails(2, *arguments, "--compare", earlier)
    assert "more than the" in adit.fails(2, "bench", "model", tiny_gguf, "-p", "1000000")
    assert "-t,--threads: 0 is not in 1..256" in adit.fails(2, "bench", "model", tiny_gguf, "-t", "1,0")


def test_what_each_technique_is_worth_to_a_stream(adit, tiny_gguf):
    rows = json.loads(adit.ok("bench", "model", tiny_gguf, "-p", "24", "-n", "4", "-t", "2", "-r", "2", "--ablate", "-o",
                           "json"))
    of = {}
    for row in rows:
        of.setdefault(row["technique"], []).append(row)
        assert row["worth_min"] <= row["worth"] <= row["worth_max"]
        assert row["tokens_per_s"] > 0 and row["tokens_per_s_without"] > 0
    # Prompts and generation, but for what concerns prompts alone.
    assert [row["n_gen"] for row in of["threads"]] == [0, 4]
    assert [row["n_gen"] for row in of["passes"]] == [0] and [row["n_gen"] for row in of["wanted_logits"]] == [0]
    assert len({row["tokens_per_s"] for row in rows if row["n_gen"] == 4}) == 1  # one run with all of them
    assert b"| huge_pages " in adit.ok("bench", "model", tiny_gguf, "-p", "8", "-n", "0", "-t", "1", "-r", "1", "--ablate")
    cpus = len(os.sched_getaffinity(0))
    ledger = adit.ok("bench", "model", tiny_gguf, "-p", "8", "-n", "0", "-t", str(cpus), "-r", "1", "--ablate")
    assert (b"| bound_threads " in ledger) == (cpus > 1), "a thread for each CPU is bound to it"


def test_a_start(adit, tiny_gguf):
    rows = json.loads(adit.ok("bench", "startup", tiny_gguf, "-r", "2", "-o", "json"))
    assert [row["phase"] for row in rows] == ["load", "load to first token"]
    assert 0 < rows[0]["seconds"] < rows[1]["seconds"]
    assert rows[0]["peak_bytes"] > 0 and rows[0]["file_bytes"] > 0


def test_kernels_and_the_roofline(adit):
    rows = json.loads(adit.ok("bench", "kernels", "--type", "q8_0", "--shape", "64x128", "--rows", "1,65", "-t", "1",
                              "-o", "json"))
    assert [(row["type"], row["shape"], row["rows"]) for row in rows] == [("q8_0", "64x128", 1), ("q8_0", "64x128", 65)]
    assert all(row["ops_per_s"] > 0 for row in rows)
    assert "have no type 'q9_9'; there are f32" in adit.fails(2, "bench", "kernels", "--type", "q9_9")
    lines = adit.ok("bench", "roofline", "-t", "1", "-o", "csv").decode().splitlines()
    assert lines[0].startswith("what,of,isa,threads,bytes_per_s,ops_per_s,size_bytes,processor")
    assert len(lines) > 6


@pytest.mark.parametrize("arguments, hint", [
    (["--request-rate", "0"], "the rate is 0"),
    (["--burstiness", "0"], "burstiness is 0"),
    (["--max-num-seqs", "1000"], "max_batch_tokens is 512"),
    (["--pages", "1", "--block-size", "1"], "no room"),
    (["--output-file", "/nowhere/at/all"], "/nowhere/at/all"),
    (["--dataset", "/nowhere.jsonl"], "/nowhere.jsonl"),
    (["--dataset", "/nowhere.jsonl", "--turns", "2"], "--num-prompts and --seed"),
])
def test_wrong_usage(adit, arguments, hint):
    done = adit.run("bench", "simulate", *arguments)
    message = done.stderr.decode()
    assert done.returncode in (2, 4) and hint in message and message.count("\n") == 1 and done.stdout == b""


def test_throughput_serves_a_model(adit, tiny_gguf):
    load = ("--num-prompts", "12", "--input-len", "uniform:5:30", "--output-len", "uniform:1:12", "--turns", "2",
            "--shared-prefix", "32", "--kv-tokens", "2048", "--request-rate", "200")
    report = json.loads(adit.ok("bench", "throughput", tiny_gguf, *load, "-o", "json"))
    assert report["completed"] == 12
    assert report["cached_prompt_tokens"] > 0
    assert report["ttft_mean_ms"] > 0 and report["mean_e2e_s"] * 1000 >= report["ttft_mean_ms"]
    assert report["settings"]["model"] == str(tiny_gguf)
    again = json.loads(adit.ok("bench", "throughput", tiny_gguf, *load, "-o", "json", "--ablate", "--repeat", "2"))
    assert again["output_tokens"] == report["output_tokens"]
    assert {row["technique"] for row in again["ablation"]} >= {"batching", "prefix_cache"}


def test_throughput_refuses_what_does_not_fit(adit, tiny_gguf):
    report = json.loads(adit.ok("bench", "throughput", tiny_gguf, "--num-prompts", "6", "--input-len", "uniform:10:90",
                                "--output-len", "5", "--kv-tokens", "64", "--max-num-seqs", "2", "-o", "json"))
    assert report["completed"] + report["refused_too_long"] == 6
    assert "--block-size" in adit.fails(2, "bench", "throughput", tiny_gguf, "--block-size", "24")
