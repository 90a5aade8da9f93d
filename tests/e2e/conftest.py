import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 180  # of one command; a sanitized build on a busy machine is slow


class Adit:
    """The program under test."""

    def __init__(self, binary):
        self.binary = binary

    def run(self, *arguments, input=b"", env=None, **kwargs):
        """Runs a command to its end. Output is bytes; stdin is empty unless given."""
        if isinstance(input, str):
            input = input.encode()
        if "stdin" in kwargs:
            input = None
        return subprocess.run([self.binary, *map(str, arguments)], input=input, env=self.environment(env),
                              stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=TIMEOUT_S,
                              **kwargs)

    def ok(self, *arguments, **kwargs):
        """What a command prints that must succeed, and must say nothing on stderr."""
        done = self.run(*arguments, **kwargs)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def fails(self, exit_code, *arguments, **kwargs):
        """The one line that a command which must fail says on stderr."""
        done = self.run(*arguments, **kwargs)
        message = done.stderr.decode()
        assert done.returncode == exit_code, message
        assert message.startswith("adit: ") and message.count("\n") == 1 and message.endswith("\n")
        assert done.stdout == b""
        return message

    def start(self, *arguments, env=None, **kwargs):
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([self.binary, *map(str, arguments)], env=self.environment(env), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **kwargs)

    @staticmethod
    def environment(more):
        """The caller's settings for adit do not reach the tests."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ADIT_")}
        return {**kept, **(more or {})}


@pytest.fixture(scope="session")
def adit():
    binary = os.environ.get("ADIT_BINARY") or ROOT / "build/release/adit"
    if not pathlib.Path(binary).exists():
        pytest.skip(f"{binary} is not there: build it, or set ADIT_BINARY")
    return Adit(str(binary))


def find_first(paths, hint):
    for path in paths:
        if path.exists():
            return path
    pytest.skip(hint)


def find_model(file_name, name):
    return find_first([ROOT / "models" / file_name, ROOT.parent / "models" / file_name],
                      f"models/{file_name} is not there: scripts/get-model {name} gets it")


@pytest.fixture(scope="session")
def smollm2():
    return find_model("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2")


@pytest.fixture(scope="session")
def qwen():
    """Its chat template has tools, as Hermes' has."""
    return find_model("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen-coder-0.5b")


@pytest.fixture(scope="session")
def gemma():
    """A base model: it has no chat template."""
    return find_model("gemma-3-270m-q4_k_m.gguf", "gemma3-270m")


@pytest.fixture(scope="session")
def qwen_coder():
    """A model that calls tools and fills gaps in code."""
    return find_model("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "qwen-coder-0.5b")


@pytest.fixture(scope="session")
def tiny():
    """The folder of tiny random models, NAME.gguf, with logits in NAME.safetensors. They have no chat template."""
    return ROOT / "tests/goldens/models"


@pytest.fixture(scope="session")
def tiny_gguf(tiny):
    return tiny / "llama.gguf"


@pytest.fixture(scope="session")
def oracle():
    return find_first([ROOT.parent / "shared/oracle"], "../shared/oracle is not there")


def read_safetensors(path):
    """{name: (dtype, shape, bytes)}"""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    return {name: (entry["dtype"], entry["shape"], data[8 + length:][slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def write_safetensors(path, tensors):
    """`tensors`: as read_safetensors gives them."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def make_certificate(folder, name, hosts, organization="adit"):
    """Files of a certificate that signs itself, for `hosts` as openssl names them ("DNS:localhost"), and of its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/O={organization}/CN={hosts[0].split(':')[1]}", "-addext",
                    "subjectAltName=" + ",".join(hosts), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
