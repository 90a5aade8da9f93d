"""adit run with a prompt or a pipe."""
import os
import re
import signal
import subprocess
import time

import pytest

QUESTION = "What is the capital of France? Answer in one sentence."


def report(done):
    """The rows that --verbose prints."""
    return dict(line.split(":", 1) for line in done.stderr.decode().splitlines() if ":" in line)


def test_a_real_model_knows_paris(adit, smollm2):
    answer = adit.ok("run", smollm2, QUESTION, "--temp", "0").decode()
    assert "Paris" in answer
    assert answer.endswith("\n") and "<|im_end|>" not in answer


STORY = ("Tell me a story.", "-n", "24")


def test_same_seed_same_text_whatever_the_threads(adit, smollm2):
    first = adit.ok("run", smollm2, *STORY, "--seed", "7", "--threads", "1")
    assert adit.ok("run", smollm2, *STORY, "--seed", "7", "--threads", "1") == first
    assert adit.ok("run", smollm2, *STORY, "--seed", "7", "--threads", "2") == first
    assert adit.ok("run", smollm2, *STORY, "--seed", "8", "--threads", "2") != first


def test_without_a_seed_the_text_differs_and_the_report_tells_the_seed(adit, smollm2):
    done = adit.run("run", smollm2, *STORY, "--verbose")
    seed = report(done)["seed"].strip()
    assert adit.ok("run", smollm2, *STORY, "--seed", seed) == done.stdout
    assert adit.ok("run", smollm2, *STORY) != done.stdout


def test_stdin_is_the_prompt_or_comes_after_it(adit, smollm2):
    direct = adit.ok("run", smollm2, QUESTION, "--temp", "0")
    assert adit.ok("run", smollm2, "--temp", "0", input=QUESTION + "\n") == direct
    joined = adit.ok("run", smollm2, "--temp", "0", "-n", "20", "Repeat this:", input="one two\n")
    assert joined == adit.ok("run", smollm2, "--temp", "0", "-n", "20", "Repeat this:\n\none two")


def test_an_empty_stdin_without_a_prompt(adit, tiny_gguf):
    assert "no PROMPT" in adit.fails(2, "run", tiny_gguf, input="")


def test_a_pipe_that_nobody_writes_to_does_not_hang(adit, tiny_gguf):
    reader, writer = os.pipe()
    done = adit.run("run", tiny_gguf, "hi", "-n", "1", stdin=reader)
    os.close(reader)
    os.close(writer)
    assert done.returncode == 0
    assert b"nothing came on stdin" in done.stderr


def test_a_closed_stdin_is_no_error(adit, tiny_gguf):
    command = f"'{adit.binary}' run '{tiny_gguf}' hi -n 1 <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_system_message_is_part_of_the_prompt(adit, smollm2):
    plain = report(adit.run("run", smollm2, "hi", "-n", "1", "--verbose"))["prefill"]
    system = report(adit.run("run", smollm2, "hi", "-n", "1", "--verbose", "--system", "word " * 50))["prefill"]
    assert int(system.split()[0]) > int(plain.split()[0]) + 25
    assert "which --raw leaves out" in adit.fails(2, "run", smollm2, "hi", "--raw", "--system", "x")


def test_raw_leaves_the_template_out(adit, smollm2):
    done = adit.run("run", smollm2, "hi", "--raw", "-n", "1", "--verbose")
    assert report(done)["prefill"].strip().startswith("1 tokens")
    done = adit.run("run", smollm2, "<|im_start|>user\nhi<|im_end|>\n", "--raw", "-n", "1", "--verbose")
    assert report(done)["prefill"].strip().startswith("6 tokens")


def test_the_report(adit, smollm2):
    done = adit.run("run", smollm2, "Count to a hundred.", "-n", "20", "--verbose", "--ignore-eos", "--ctx", "1K",
                    "--seed", "3", "--threads", "2", "--kv-type", "f16")
    rows = report(done)
    assert re.fullmatch(r" +\d+\.\d{3} s", rows["load"])
    assert re.fullmatch(r" +\d+ tokens \(0 cached\) in \d+\.\d{3} s, \d+\.\d tok/s", rows["prefill"])
    assert re.fullmatch(r" +20 tokens in \d+\.\d{3} s, \d+\.\d tok/s, ended by a limit", rows["decode"])
    assert "file 93.8 MiB, KV cache 22.5 MiB (1024 tokens of f16), scratch " in rows["memory"]
    assert rows["kernels"].endswith("2 threads")
    assert rows["seed"].strip() == "3"


def test_peak_memory_stays_near_the_file(adit, smollm2):
    def mebibytes(text):
        value, unit = text.split()
        return float(value) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]

    done = adit.run("run", smollm2, "hi", "-n", "5", "--ctx", "512", "--verbose")
    memory = report(done)["memory"]
    peak, file, kv, scratch = (mebibytes(re.search(name + r" ([\d.]+ .iB)", memory)[1])
                               for name in ("peak", "file", "KV cache", "scratch"))
    if b"AddressSanitizer" in open(adit.binary, "rb").read():
        pytest.skip("sanitizers take memory of their own")
    assert peak <= 1.25 * file + kv + scratch


def test_limits_of_the_context(adit, tiny_gguf, smollm2):
    message = adit.fails(2, "run", smollm2, "hi", "--ctx", "8193")
    assert "8193" in message and "8192" in message
    message = adit.fails(2, "run", tiny_gguf, "word " * 200, "--ctx", "64")
    assert "context of 64" in message
    done = adit.run("run", tiny_gguf, "hi", "--ctx", "64", "--ignore-eos")
    assert done.returncode == 0
    assert done.stderr == b"adit: the context of 64 tokens is full\n"


def test_max_tokens(adit, smollm2):
    assert adit.ok("run", smollm2, "hi", "-n", "0") == b"\n"
    done = adit.run("run", smollm2, "Count to a hundred.", "--max-tokens", "3", "--verbose")
    assert report(done)["decode"].strip().startswith("3 tokens")


@pytest.mark.parametrize("flag, value", [("--temp", "2.5"), ("--temp", "nan"), ("--top-p", "1.5"), ("--min-p", "-1"),
                                         ("--repeat-penalty", "0"), ("--presence-penalty", "3")])
def test_sampling_values_out_of_range(adit, tiny_gguf, flag, value):
    assert " is not in " in adit.fails(2, "run", tiny_gguf, "hi", flag, value)


def test_penalties_change_the_text(adit, tiny_gguf):
    greedy = ("run", tiny_gguf, "aaaa", "--temp", "0", "-n", "60", "--ignore-eos")
    plain = adit.ok(*greedy)
    for flag, value in (("--repeat-penalty", "2"), ("--presence-penalty", "2"), ("--frequency-penalty", "2")):
        assert adit.ok(*greedy, flag, value) != plain
    assert adit.ok(*greedy, "--repeat-penalty", "2", "--repeat-last-n", "0") == plain


def test_every_kernel_set_answers(adit, smollm2):
    sets = re.findall(r"kernels (\w+) +available", adit.ok("doctor").decode())
    assert "ref" in sets
    for name in sets:
        assert b"Paris" in adit.ok("run", smollm2, QUESTION, "--temp", "0", "--isa", name, "-n", "12")
    assert "no set 'sse9'" in adit.fails(2, "run", smollm2, "hi", "--isa", "sse9")


def long_answer(adit, smollm2, **kwargs):
    return adit.start("run", smollm2, "Count to a thousand.", "--ignore-eos", "--temp", "0", **kwargs)


def test_ctrl_c_stops_the_answer(adit, smollm2):
    process = long_answer(adit, smollm2)
    first = process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b""
    assert (first + rest).endswith(b"\n")
    (first + rest).decode()


def catches_sigint(pid):
    with open(f"/proc/{pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1


def test_a_second_ctrl_c_ends_the_program_at_once(adit, tiny_gguf):
    # The pipe is full and nobody reads, so what the first signal asks for cannot be done.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    process = subprocess.Popen([adit.binary, "run", tiny_gguf, "hi"], stdin=subprocess.DEVNULL, stdout=writer)
    os.close(writer)
    for _ in range(600):
        if catches_sigint(process.pid):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    os.close(reader)


def test_a_reader_that_goes_ends_the_answer(adit, smollm2):
    command = f"'{adit.binary}' run '{smollm2}' 'Count.' --ignore-eos | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert done.stdout[1:] == b"141\n"
    assert done.stderr == b""


def test_text_streams_in_whole_characters(adit, smollm2):
    process = adit.start("run", smollm2, "Reply with many emoji and accents: 😀é😀é", "--seed", "5", "-n", "30",
                         bufsize=0)
    chunks = []
    while chunk := os.read(process.stdout.fileno(), 65536):
        chunks.append(chunk)
    assert process.wait(60) == 0
    assert len(chunks) > 5
    for chunk in chunks:
        chunk.decode()


def test_a_model_without_a_template_goes_on_with_the_text(adit, gemma):
    assert "this model does not have" in adit.fails(2, "run", gemma, "hi", "--system", "x", "--ctx", "512")
    question = ("run", gemma, "The capital of France is", "--temp", "0", "-n", "5", "--ctx", "512")
    answer = adit.ok(*question).decode()
    assert answer.strip()
    assert answer == adit.ok(*question, "--isa", "ref").decode()


def test_a_template_that_refuses_is_an_error(adit, oracle, tmp_path):
    # The file holds its template as a string; another of the same length takes its place.
    model = oracle / "models/llama/model-f32.gguf"
    data = model.read_bytes()
    old = adit.ok("show", model, "--template")
    new = b"{{ raise_exception('this template refuses') }}"
    assert old in data and len(new) <= len(old)
    path = tmp_path / "refuses.gguf"
    path.write_bytes(data.replace(old, new.ljust(len(old))))
    assert "this template refuses" in adit.fails(5, "run", path, "hi")
    broken = b"{% if %}"
    path.write_bytes(data.replace(old, broken.ljust(len(old))))
    assert "chat template: " in adit.fails(5, "run", path, "hi")
    assert adit.run("run", path, "hi", "--raw", "-n", "1").returncode == 0
