"""Writes the tokenizer goldens beside this file: the vocabularies of the tiny models of the shared oracle, and a choice of
short texts with the ids that the oracle's references gave (HF tokenizers 0.23.3; where it composes characters first,
llama.cpp, which reads the same files and does not). Usage: make.py [ORACLE], by default ../shared/oracle."""
import json
import mmap
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORACLE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "../shared/oracle"
MODELS = {"gpt2": "gpt2/model-f32.gguf", "llama2": "llama_spm/model-bf16.gguf", "llama3": "llama/model-f32.gguf",
          "qwen2": "qwen2/model-f32.gguf", "gemma": "gemma/model-bf16.gguf"}
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MAX_BYTES, MAX_PER_CATEGORY = 40, 5


class Reader:
    def __init__(self, data):
        self.data, self.pos = data, 0

    def take(self, fmt):
        values = struct.unpack_from("<" + fmt, self.data, self.pos)
        self.pos += struct.calcsize("<" + fmt)
        return values

    def value(self, kind):
        if kind == STRING:
            (length,) = self.take("Q")
            self.pos += length
            return self.data[self.pos - length:self.pos].decode("utf-8")
        if kind == ARRAY:
            element, count = self.take("IQ")
            return [self.value(element) for _ in range(count)]
        return self.take(SCALARS[kind])[0]


def metadata(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = Reader(data)
        _, _, _, count = reader.take("4sIQQ")
        values = {}
        for _ in range(count):
            key = reader.value(STRING)
            values[key] = reader.value(*reader.take("I"))
        return {key: value for key, value in values.items() if key.startswith("tokenizer.ggml.")}


def choose(cases):
    taken = {}
    for case in cases:
        if len(case["text"].encode()) > MAX_BYTES or taken.get(case["cat"], 0) >= MAX_PER_CATEGORY:
            continue
        taken[case["cat"]] = taken.get(case["cat"], 0) + 1
        ids = {kind: case.get("llamacpp_" + kind, case[kind]) for kind in ("plain", "special", "full")}
        decoded = case["text"] if case["decode"] is True or "llamacpp_plain" in case else case["decode"]
        yield {"text": case["text"], **ids, "decoded": decoded}


for kind, model in MODELS.items():
    golden = json.loads((ORACLE / f"tokenizer/tiny_{kind}.json").read_text())
    out = {"made_by": golden["made_by"], "metadata": metadata(ORACLE / "models" / model), "cases": list(choose(golden["cases"]))}
    lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in out["cases"]]
    head = json.dumps({"made_by": out["made_by"], "metadata": out["metadata"]}, ensure_ascii=False,
                      separators=(",", ":"))
    (HERE / f"tiny_{kind}.json").write_text(head[:-1] + ',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")
