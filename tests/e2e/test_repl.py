"""adit run as a talk, on a terminal."""
import os
import pty
import select
import signal
import time

import pytest

PROMPT = b">>> "
TIMEOUT_S = 180


class Terminal:
    """The program on a pseudo-terminal."""

    def __init__(self, adit, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(adit.binary, [adit.binary, *map(str, arguments)], adit.environment({"TERM": "xterm"}))
        self.seen = b""

    def read_some(self):
        """Waits for more from the program."""
        assert select.select([self.fd], [], [], TIMEOUT_S)[0], self.seen
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # the program has ended
            chunk = b""
        assert chunk, self.seen
        self.seen += chunk

    def read_until(self, wanted):
        """Everything up to and with `wanted`."""
        while wanted not in self.seen:
            self.read_some()
        end = self.seen.index(wanted) + len(wanted)
        text, self.seen = self.seen[:end], self.seen[end:]
        return text

    def send(self, data):
        os.write(self.fd, data)

    def ask(self, line):
        """The answer to a line: what comes between its echo and the next prompt."""
        self.send(line + b"\n")
        self.read_until(line + b"\r\n")
        return self.read_until(PROMPT)[:-len(PROMPT)]

    def end(self):
        """The exit code, as a shell sees it."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    pass
        raise AssertionError("still running")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.fixture
def talk(adit):
    terminals = []

    def talk(*arguments):
        terminal = Terminal(adit, "run", *arguments)
        terminals.append(terminal)
        return terminal

    yield talk
    for terminal in terminals:
        terminal.close()


def test_answers_line_by_line_and_leaves(talk, smollm2):
    terminal = talk(smollm2, "--temp", "0", "-n", "16")
    terminal.read_until(PROMPT)
    assert b"Paris" in terminal.ask(b"What is the capital of France?")
    assert terminal.ask(b"") == b""
    terminal.send(b"/bye\n")
    assert terminal.end() == 0


def test_remembers_what_was_said_until_it_is_cleared(talk, smollm2):
    terminal = talk(smollm2, "--temp", "0", "-n", "8", "--verbose")
    terminal.read_until(PROMPT)
    prompts = []
    for line in (b"My name is Zo.", b"Say hi.", b"/clear", b"My name is Zo."):
        answer = terminal.ask(line)
        if line == b"/clear":
            assert b"forgotten" in answer
            continue
        words = answer.split(b"prefill:")[1].split()
        prompts.append((int(words[0]), int(words[2].lstrip(b"("))))
    (first, _), (second, cached), (again, _) = prompts
    assert second > first
    assert cached >= first - 16  # prefixes are kept in whole pages
    assert again == first


def test_commands(talk, tiny_gguf):
    terminal = talk(tiny_gguf, "-n", "2")
    terminal.read_until(PROMPT)
    assert b"/clear" in terminal.ask(b"/?")
    assert b"no command '/frob'" in terminal.ask(b"/frob")
    terminal.send(b"\x04")
    assert terminal.end() == 0


def test_ctrl_c_stops_the_answer_and_comes_back_to_the_prompt(talk, smollm2):
    terminal = talk(smollm2, "--ignore-eos", "--temp", "0")
    terminal.read_until(PROMPT)
    terminal.send(b"Count to a thousand.\n")
    terminal.read_until(b"thousand.\r\n")
    terminal.read_some()
    terminal.send(b"\x03")
    terminal.read_until(PROMPT)
    terminal.send(b"/bye\n")
    assert terminal.end() == 0


def test_ctrl_c_twice_at_the_prompt_leaves(talk, tiny_gguf):
    terminal = talk(tiny_gguf, "-n", "2")
    terminal.read_until(PROMPT)
    terminal.send(b"half a li\x03")
    terminal.read_until(b"leaves.\r\n" + PROMPT)
    assert terminal.ask(b"/?")
    terminal.send(b"\x03")
    terminal.read_until(b"leaves.\r\n" + PROMPT)
    terminal.send(b"\x03")
    assert terminal.end() == 130


def test_a_prompt_that_is_too_long_is_told_and_forgotten(talk, smollm2):
    terminal = talk(smollm2, "--ctx", "64", "-n", "2")
    terminal.read_until(PROMPT)
    assert b"context of 64" in terminal.ask(b"word " * 200)
    assert b"adit:" not in terminal.ask(b"hi")


def test_what_a_model_says_cannot_drive_the_terminal(talk, tiny_gguf):
    # A random model says all kinds of bytes.
    terminal = talk(tiny_gguf, "--temp", "2", "--top-p", "1", "--min-p", "0", "--top-k", "0", "--seed", "1",
                    "-n", "300", "--ignore-eos")
    terminal.read_until(PROMPT)
    answer = terminal.ask(b"hi")
    assert len(answer) > 100
    assert [byte for byte in answer if byte < 32 and byte not in b"\r\n\t"] == []
    answer.decode()


def test_the_progress_bar_and_the_prompt_stay_off_a_file(adit, smollm2, tmp_path):
    with open(tmp_path / "out", "wb") as out:
        assert adit.run("run", smollm2, "hi", "-n", "3", stdout=out).stderr == b""
    assert b"\x1b" not in (tmp_path / "out").read_bytes()
