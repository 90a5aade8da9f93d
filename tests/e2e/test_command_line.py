"""Help, errors and exit codes, whatever the command."""
import os
import re
import signal
import subprocess

import pytest

from conftest import read_safetensors


def test_help_lists_the_commands(adit):
    text = adit.ok("--help").decode()
    for command in ("run", "show", "tokenize", "detokenize", "template", "logits", "doctor", "version"):
        assert f"  {command} " in text
        assert "Usage: adit " + command in adit.ok(command, "--help").decode()


def test_version(adit):
    assert adit.ok("version") == adit.ok("--version")
    # Of a tree without a repository there is no commit to tell.
    assert re.fullmatch(r"adit \d+\.\d+\.\d+( \([0-9a-f]{9,40}(-dirty)?\))?\n", adit.ok("version").decode())


@pytest.mark.parametrize("arguments, hint", [
    ([], "adit --help"),
    (["rnu"], "did you mean 'run'"),
    (["run"], "MODEL is required"),
    (["run", "m.gguf", "--tmep", "1"], "did you mean '--temp'"),
    (["run", "m.gguf", "--ctx", "many"], "--ctx"),
    (["run", "m.gguf", "a", "b"], "one argument too many"),
    (["run", "m.gguf", "--threads", "0"], "--threads"),
    (["doctor", "now"], "one argument too many"),
])
def test_wrong_usage(adit, arguments, hint):
    assert hint in adit.fails(2, *arguments)


COMMANDS = [("run", "MODEL", "hi"), ("show", "MODEL"), ("tokenize", "MODEL", "hi"), ("detokenize", "MODEL", "1"),
            ("template", "MODEL"), ("logits", "MODEL", "--tokens", "1", "-o", "OUT")]


def with_model(command, model, tmp_path):
    return [{"MODEL": model, "OUT": tmp_path / "out"}.get(word, word) for word in command]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_models_that_are_none(adit, command, tmp_path):
    absent = tmp_path / "absent.gguf"
    assert f"model '{absent}' not found" in adit.fails(3, *with_model(command, absent, tmp_path))
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    assert "is a folder" in adit.fails(2, *with_model(command, folder, tmp_path))
    for name, content in (("empty.gguf", b""), ("text.gguf", b"hello, I am no model\n"), ("cut.gguf", b"GGUF\3\0\0\0")):
        path = tmp_path / name
        path.write_bytes(content)
        assert str(path) in adit.fails(5, *with_model(command, path, tmp_path))
    assert not (tmp_path / "out").exists()


def test_names_are_those_of_the_store(adit, tmp_path):
    message = adit.fails(3, "run", "HuggingFaceTB/SmolLM2-135M-Instruct", "hi", env={"ADIT_MODELS": str(tmp_path)})
    assert "no such file" in message and "adit pull" in message


def test_a_message_is_one_line_without_control_characters(adit):
    assert "\x1b" not in adit.fails(3, "show", "a\x1b[2J\nb")


def test_a_truncated_model(adit, tiny_gguf, tmp_path):
    whole = tiny_gguf.read_bytes()
    for size in (100, len(whole) // 2, len(whole) - 1):
        path = tmp_path / "cut.gguf"
        path.write_bytes(whole[:size])
        adit.fails(5, "run", path, "hi")


def test_doctor_tells_of_the_machine(adit):
    text = adit.ok("doctor").decode()
    for row in ("processor", "CPUs", "memory", "huge pages", "kernels ref", "threads"):
        assert f"\n{row}" in "\n" + text
    assert text.count(", used") == 1
    assert "kernels ref    available, used" in adit.ok("doctor", env={"ADIT_ISA": "ref"}).decode()
    assert adit.ok("doctor", env={"ADIT_ISA": "", "ADIT_THREADS": ""}) != b""


@pytest.mark.parametrize("variable, value", [("ADIT_ISA", "sse9"), ("ADIT_THREADS", "none"), ("ADIT_THREADS", "0"),
                                             ("ADIT_THREADS", "100000")])
def test_a_wrong_variable_is_named(adit, tiny_gguf, variable, value):
    done = adit.run("doctor", env={variable: value})
    assert done.returncode == 2 and value in done.stderr.decode()
    assert b"processor" in done.stdout
    assert value in adit.fails(2, "run", tiny_gguf, "hi", env={variable: value})


def test_a_flag_comes_before_a_variable(adit, tiny_gguf):
    done = adit.run("run", tiny_gguf, "hi", "-n", "1", "--isa", "ref", "--threads", "1", "--verbose",
                    env={"ADIT_ISA": "sse9", "ADIT_THREADS": "none"})
    assert done.returncode == 0
    assert b"ref, 1 thread" in done.stderr


def test_a_reader_that_has_gone_ends_the_program_quietly(adit, tiny_gguf, tmp_path):
    text = tmp_path / "text"
    text.write_text("x" * 300000)  # more ids than a pipe holds
    command = f"'{adit.binary}' tokenize '{tiny_gguf}' --file '{text}' | head -c 0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stdout == b"141\n"
    assert done.stderr == b""


def test_a_full_disk_is_an_error(adit):
    with open("/dev/full", "wb") as full:
        assert "No space left" in adit.run("version", stdout=full).stderr.decode()
        assert adit.run("version", stdout=full).returncode == 5


def test_a_closed_stdout_is_an_error_and_no_file_gets_the_text(adit, tiny_gguf, tmp_path):
    out = tmp_path / "logits"
    command = (f"'{adit.binary}' version >&-; echo $?;"
               f"'{adit.binary}' logits '{tiny_gguf}' --tokens 1 -o '{out}' >&-; echo $?")
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stdout == b"5\n0\n"
    assert done.stderr.startswith(b"adit: cannot write to stdout")
    assert read_safetensors(out)["logits"][1] == [1, 259]


def test_ctrl_c_before_the_answer_ends_the_program(adit, tiny_gguf):
    reader, writer = os.pipe()
    process = adit.start("tokenize", tiny_gguf, stdin=reader)
    os.close(reader)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    os.close(writer)
    assert process.returncode == -signal.SIGINT
