"""Figures for dashboards: their formats, vLLM's names, the files in docs/monitoring, and traces."""
import json
import re

import pytest
from conftest import ROOT
from server import Server

MONITORING = ROOT / "docs/monitoring"
SERIES = re.compile(r"\b((?:adit|http|process)_[a-z0-9_]+)")
# Told only where the machine lets it be read.
OPTIONAL = {"adit_energy_joules_total"}


@pytest.fixture(scope="module")
def server(adit, tiny_gguf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    (folder / "rules.toml").write_text("[[rule]]\nname = 'x'\naction = 'flag'\nregex = 'x'\n")
    with Server(adit, tiny_gguf, folder, "--metrics-compat", "vllm", "--guard", folder / "rules.toml", "--alias", "tiny",
                "--kv-tokens", "1024") as started:
        started.wait_ready()
        for _ in range(3):
            started.ask("POST", "/v1/completions", {"prompt": "xyz xyz xyz xyz", "max_tokens": 12, "ignore_eos": True})
        started.ask("POST", "/v1/completions", {"prompt": 1})
        yield started


def names(text):
    """Of all series, without the ends of histograms."""
    found = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line and not line.startswith("#")}
    return found | {re.sub("_(bucket|count|sum)$", "", name) for name in found}


def test_what_boards_and_alerts_name_is_told(server):
    told = names(server.ask("GET", "/metrics")[2].decode())
    board = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [variable["query"] for variable in board["templating"]["list"]]
    asked += re.findall(r"expr: (.*)", (MONITORING / "prometheus-alerts.yml").read_text())
    wanted = {name for expression in asked for name in SERIES.findall(expression)}
    assert len(wanted) > 25
    assert wanted - OPTIONAL <= told, wanted - OPTIONAL - told


def test_panels_lie_side_by_side():
    board = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places) and all(x % 8 == 0 and y % 7 == 0 for x, y in places)
    assert len({panel["id"] for panel in board["panels"]}) == len(places)


def test_steps_are_told_by_what_they_are_made_of(server):
    lines = server.ask("GET", "/metrics")[2].decode().splitlines()
    figures = {re.sub(r"model(_name)?=\"[^\"]*\",?|,?engine=\"0\"|[{}]", "", series): float(value)
               for series, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}
    steps = figures["adit_engine_steps_total"]
    # Three answers of 12 tokens, one after the other; the last token of each takes part in no step.
    computed = figures["adit_prompt_tokens_total"] + figures["adit_generation_tokens_total"] - 3
    assert figures["adit_iteration_tokens_count"] == steps and figures["adit_iteration_tokens_sum"] == computed
    assert figures['adit_iteration_tokens_bucketle="1"'] >= 33
    assert figures['adit_iteration_tokens_bucketle="+Inf"'] == figures["vllm:iteration_tokens_total_count"] == steps
    assert figures["adit_batch_size"] == figures["adit_busy_sequences_per_step"] == 1
    assert figures["adit_n_tokens_max"] >= 12
    assert figures["adit_grammar_mask_seconds_total"] == 0


def by_label(server, name, label):
    """The figures of one family, by what they have as `label`."""
    lines = server.ask("GET", "/metrics")[2].decode().splitlines()
    return {re.search(rf'{label}="([^"]*)"', line)[1]: float(line.rpartition(" ")[2])
            for line in lines if line.startswith(name + "{")}


def test_kernels_are_told_by_time_bytes_and_operations(server):
    seconds = by_label(server, "adit_kernel_seconds_total", "op")
    assert set(seconds) == {"embed", "norm", "linear", "rope", "attention", "activation", "output"}
    assert all(value > 0 for value in seconds.values())
    model_seconds = by_label(server, "adit_step_seconds_total", "phase")["model"]
    assert 0.5 * model_seconds < sum(seconds.values()) <= model_seconds
    assert len(by_label(server, "adit_kernel_seconds_total", "variant")) == 1
    read = by_label(server, "adit_kernel_bytes_total", "op")
    done = by_label(server, "adit_kernel_flops_total", "op")
    assert set(read) == set(done) == {"linear", "attention", "output"}
    # Each step multiplies by the output matrix once, of 8 bits and more for each of its numbers.
    assert read["linear"] + read["output"] == server.metric("adit_weight_read_bytes_total")
    assert read["output"] > 0 and done["output"] > 0 and done["attention"] > 0


def test_times_of_loading_and_of_texts(server):
    assert set(by_label(server, "adit_startup_seconds", "phase")) == {"files", "tokenizer", "weights"}
    assert server.metric("adit_tokenize_seconds_count") == server.metric("adit_detokenize_seconds_count") == 3
    assert 0 < server.metric("adit_tokenize_seconds_sum") < 1 and 0 < server.metric("adit_detokenize_seconds_sum") < 1


def test_cached_pages_are_told_by_how_long_they_live(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--kv-tokens", 64, "--ctx", 64) as own:
        own.wait_ready()
        for prompt in ("abcd " * 8, "abcd " * 8 + "e", "vwxy " * 8, "qrst " * 8):
            answer = own.ask("POST", "/v1/completions", {"prompt": prompt, "max_tokens": 2, "ignore_eos": True})
            assert answer[0] == 200, answer
        assert own.metric("adit_kv_block_reuse_gap_seconds_count") >= 1, "the second prompt begins like the first"
        evicted = own.metric("adit_kv_block_lifetime_seconds_count")
        assert evicted >= 1 and own.metric("adit_kv_block_idle_before_evict_seconds_count") == evicted
        idle = own.metric("adit_kv_block_idle_before_evict_seconds_sum")
        assert 0 <= idle <= own.metric("adit_kv_block_lifetime_seconds_sum") < 60


def test_masks_of_grammars_take_time(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path) as own:
        own.wait_ready()
        answer = own.ask("POST", "/v1/completions", {"prompt": "x", "max_tokens": 4, "guided_regex": "[x-z]+"})
        if b"not_supported" in answer[2]:
            pytest.skip("this build has no XGrammar")
        assert answer[0] == 200, answer
        assert own.metric("adit_grammar_mask_seconds_total") > 0
        assert own.metric("adit_grammar_compile_seconds_count") == 1
        assert 0 < own.metric("adit_grammar_compile_seconds_sum") < 10


def test_figures_come_as_openmetrics_to_who_asks_for_it(server):
    _, headers, raw = server.ask("GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0,text/plain"})
    assert headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    lines = raw.decode().splitlines()
    assert lines[-1] == "# EOF" and lines.count("# EOF") == 1
    types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE ")}
    assert types["adit_generation_tokens"] == "counter" and types["adit_time_to_first_token_seconds"] == "histogram"
    assert len(types) == sum(line.startswith("# TYPE ") for line in lines), "no family twice"
    family = None
    for line in lines[:-1]:
        if line.startswith("# "):
            family = line.split()[2]
            continue
        match = re.fullmatch(r'([a-z_:0-9]+)(?:\{(?:[a-z_]+="[^"]*",?)*\})? (\S+)', line)
        assert match and float(match[2]) == float(match[2]), line
        ends = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}[types[family]]
        assert match[1] in [family + end for end in ends], line
    plain = server.ask("GET", "/metrics")
    assert plain[1]["Content-Type"].startswith("text/plain; version=0.0.4")


def test_vllms_names_are_told_where_they_are_wished(server, adit, tiny_gguf, tmp_path):
    text = server.ask("GET", "/metrics")[2].decode()
    for name in ("vllm:num_requests_running", "vllm:kv_cache_usage_perc", "vllm:generation_tokens_total",
                 "vllm:prefix_cache_hits_total", "vllm:request_success_total"):
        assert re.search(rf'^{name}\{{[^}}]*model_name="tiny"', text, re.MULTILINE), name
    assert 'vllm:time_to_first_token_seconds_bucket{' in text
    with Server(adit, tiny_gguf, tmp_path) as other:
        assert "vllm:" not in other.wait_ready().ask("GET", "/metrics")[2].decode()


def test_figures_of_process_and_machine(server):
    assert server.metric("process_cpu_seconds_total") > 0 and server.metric("adit_cpus") >= 1
    assert server.metric("process_open_fds") > 3 and server.metric("process_start_time_seconds") > 1.6e9
    assert server.metric('adit_memory_bytes{pool="kv"') > 0 and server.metric('adit_memory_bytes{pool="weights"') > 0
    assert server.metric('adit_memory_bandwidth_bytes_per_second{kind="measured_peak"') > 1e8
    assert server.metric('adit_model_state{') == 1
    assert server.metric('adit_tenant_service_tokens_total{tenant="default"}') > 36
    assert server.metric("adit_request_max_num_generation_tokens_count") == 3


def test_the_last_seconds_as_a_trace(server):
    trace = json.loads(server.ask("POST", "/admin/profile", {"seconds": 600})[2])["traceEvents"]
    steps = [event for event in trace if event["name"] in ("step", "steps")]
    assert sum(event["args"]["steps"] for event in steps) >= 36
    assert sum(event["args"]["output_tokens"] for event in steps) >= 36
    assert all(event["dur"] >= 0 and event["ph"] == "X" for event in steps)
    requests = [event for event in trace if event.get("cat") == "request"]
    assert sum(event["ph"] == "b" for event in requests) == sum(event["ph"] == "e" for event in requests)
    decodes = [event for event in requests if event["name"] == "decode"]
    assert len(decodes) == 6
    assert "xyz" not in json.dumps(trace), "what clients wrote is not told"  # no hex id holds it
    assert server.ask("POST", "/admin/profile", b"")[0] == 200
    status, _, raw = server.ask("POST", "/admin/profile", {"seconds": 0})
    assert status == 400 and json.loads(raw)["error"]["param"] == "seconds"
