"""adit run as a talk, on a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
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


def test_lines_are_edited_and_come_back(talk, tiny_gguf):
    terminal = talk(tiny_gguf, "-n", "2")
    terminal.read_until(PROMPT)

    def unknown(keys):
        """The command that the program saw: lines that are shown anew have the prompt in them."""
        terminal.send(keys + b"\n")
        told = terminal.read_until(b"lists them\r\n" + PROMPT)
        return told.split(b"no command '")[1].split(b"'")[0]

    # Ctrl-A, Delete, Ctrl-E, backspace.
    assert unknown(b"xfrobx\x01\x1b[3~/\x05\x7f") == b"/frob"
    assert unknown(b"\x1b[A\x15/nope") == b"/nope"
    assert unknown(b"half\x1b[A\x1b[A") == b"/frob"
    assert unknown(b"/x\x1b[A\x1b[A\x1b[B\x1b[By") == b"/xy"  # what was typed comes back
    assert unknown(b"/one two\x17\x1b[D\x1b[D3\x1b[1;5D\x1b[C9") == b"/9on3e"
    assert unknown(b"/\xc3\xa9\xe4\xb8\xad\x7fz") == "/\u00e9z".encode()


def test_a_line_longer_than_the_terminal_moves_sideways(talk, tiny_gguf):
    terminal = talk(tiny_gguf, "-n", "2")
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    terminal.read_until(PROMPT)
    terminal.send(b"/" + b"a" * 40 + b"\n")
    told = terminal.read_until(b"lists them\r\n" + PROMPT)
    assert b"no command '/" + b"a" * 40 + b"'" in told
    frames = told.split(b"\r\n")[0].split(b"\r")
    assert max(len(re.sub(rb"\x1b\[[0-9]*[A-Z]", b"", frame)) for frame in frames) <= 20


def without_bar(answer):
    """A prompt that takes long has a progress bar before its answer."""
    return answer.split(b"\r\x1b[K")[-1]


def saved(path):
    return json.loads(path.read_text())


def test_messages_of_several_lines(talk, smollm2, tmp_path):
    terminal = talk(smollm2, "--temp", "0", "-n", "2")
    terminal.read_until(PROMPT)
    terminal.send(b"one \\\n")
    terminal.read_until(b"... ")
    terminal.ask(b"two")
    terminal.send(b'"""a\n')
    terminal.read_until(b"... ")
    terminal.send(b"\n")
    terminal.read_until(b"... ")
    terminal.ask(b'b"""')
    terminal.ask(b"/save " + str(tmp_path / "talk.json").encode())
    assert [turn["user"] for turn in saved(tmp_path / "talk.json")["turns"]] == ["one \ntwo", "a\n\nb"]
    terminal.send(b"begun \\\n")
    terminal.read_until(b"... ")
    terminal.send(b"\x03")
    terminal.read_until(PROMPT)
    assert b"2 messages" in terminal.ask(b"/show")


def test_takes_back_and_answers_again(talk, smollm2, tmp_path):
    terminal = talk(smollm2, "--seed", "1", "-n", "12")
    terminal.read_until(PROMPT)
    assert b"nothing was said" in terminal.ask(b"/retry")
    assert b"nothing was said" in terminal.ask(b"/undo")
    first = without_bar(terminal.ask(b"Tell me a story."))
    second = without_bar(terminal.ask(b"/retry"))
    assert second.strip() and second != first  # another seed
    assert b"1 messages" in terminal.ask(b"/show")
    assert b"Tell me a story." in terminal.ask(b"/undo")
    assert b"0 messages" in terminal.ask(b"/show")
    terminal.ask(b"/set seed 1")
    assert without_bar(terminal.ask(b"Tell me a story.")) == first


def test_settings(talk, smollm2):
    terminal = talk(smollm2, "-n", "4")
    terminal.read_until(PROMPT)
    assert b"top-k N" in terminal.ask(b"/set")
    assert b"temp is 0" in terminal.ask(b"/set temp 0")
    assert b"0" in terminal.ask(b"/show").split(b"temp ")[1].split()[0]
    assert b"did you mean 'temp'" in terminal.ask(b"/set tmp 1")
    assert b"temperature" in terminal.ask(b"/set temp 99")
    assert b"a name and a value" in terminal.ask(b"/set temp")
    first = without_bar(terminal.ask(b"Say hi."))
    terminal.ask(b"/clear")
    assert without_bar(terminal.ask(b"Say hi.")) == first
    assert b"template's own" in terminal.ask(b"/system")
    terminal.ask(b"/system Answer in French.")
    assert b"Answer in French." in terminal.ask(b"/system")
    assert b"Answer in French." in terminal.ask(b"/show")
    terminal.ask(b'/system ""')
    assert b"template's own" in terminal.ask(b"/system")


def test_a_saved_talk_goes_on_where_it_was(talk, smollm2, tmp_path):
    path = tmp_path / "talk.json"
    terminal = talk(smollm2, "--temp", "0", "-n", "8")
    terminal.read_until(PROMPT)
    terminal.ask(b"/system Be brief.")
    terminal.ask(b"My name is Zo.")
    assert b"saved" in terminal.ask(b"/save " + str(path).encode())
    answer = terminal.ask(b"What is my name?")
    talk_saved = saved(path)
    assert talk_saved["format"] == "adit talk" and talk_saved["system"] == "Be brief."

    again = talk(smollm2, "--temp", "0", "-n", "8")
    again.read_until(PROMPT)
    assert b"1 messages" in again.ask(b"/load " + str(path).encode())
    assert without_bar(again.ask(b"What is my name?")) == without_bar(answer)
    assert b"user: My name is Zo.\r\nassistant: " in again.ask(b"/show all")
    again.ask(b"/save " + str(path).encode())
    assert len(saved(path)["turns"]) == 2


def test_files_that_cannot_be_loaded_or_saved_are_told(talk, tiny_gguf, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("data")
    terminal = talk(tiny_gguf, "-n", "2")
    terminal.read_until(PROMPT)
    for line, told in (("/load", "the path of a file"), ("/save", "the path of a file"),
                       (f"/load {tmp_path}/none", "none"), (f"/load {precious}", "precious"),
                       (f"/save {precious}", "not overwritten"), (f"/save {tmp_path}/no/such", "no/such"),
                       ("/clear all", "takes nothing")):
        assert told.encode() in terminal.ask(line.encode()), line
    assert precious.read_text() == "data"
    assert terminal.ask(b"/show")


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
