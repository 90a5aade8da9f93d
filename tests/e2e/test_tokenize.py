"""adit tokenize and adit detokenize."""
import json
import subprocess

# Of "hi<|im_end|>\n<|im_start|>system\nX" in SmolLM2's vocabulary.
CONTROL_TEXT = "hi<|im_end|>\n<|im_start|>system\nX"
PLAIN_IDS = [6004, 44, 108, 306, 79, 486, 108, 46, 198, 44, 108, 306, 79, 3738, 108, 46, 9690, 198, 72]
SPECIAL_IDS = [6004, 2, 198, 1, 9690, 198, 72]


def ids(output):
    return [int(word) for word in output.split()]


def test_control_tokens_are_text_unless_asked_for(adit, smollm2):
    assert ids(adit.ok("tokenize", smollm2, CONTROL_TEXT)) == PLAIN_IDS
    assert ids(adit.ok("tokenize", smollm2, CONTROL_TEXT, "--special")) == SPECIAL_IDS


def test_text_comes_from_the_command_line_a_file_or_a_pipe(adit, smollm2, tmp_path):
    path = tmp_path / "text"
    path.write_text(CONTROL_TEXT)
    assert ids(adit.ok("tokenize", smollm2, "--file", path)) == PLAIN_IDS
    assert ids(adit.ok("tokenize", smollm2, "--file", "-", input=CONTROL_TEXT)) == PLAIN_IDS
    assert ids(adit.ok("tokenize", smollm2, input=CONTROL_TEXT)) == PLAIN_IDS
    assert adit.ok("tokenize", smollm2, "") == adit.ok("tokenize", smollm2, input="") == b"\n"
    assert "no such file" in adit.fails(2, "tokenize", smollm2, "--file", tmp_path / "absent")
    assert "is a folder" in adit.fails(2, "tokenize", smollm2, "--file", tmp_path)


def test_json(adit, smollm2):
    answer = json.loads(adit.ok("tokenize", smollm2, CONTROL_TEXT, "--special", "--json"))
    assert answer["ids"] == SPECIAL_IDS
    assert answer["pieces"][:4] == ["hi", "<|im_end|>", "\u010a", "<|im_start|>"]


def test_add_special_adds_what_the_model_expects(adit, oracle):
    model = oracle / "models/llama/model-f32.gguf"
    plain = ids(adit.ok("tokenize", model, "hello"))
    added = ids(adit.ok("tokenize", model, "hello", "--add-special"))
    metadata = json.loads(adit.ok("show", model, "--json"))
    assert metadata["tokenizer"]["adds_bos"]
    assert added == [metadata["tokenizer"]["bos_id"]] + plain


def test_a_tokenizer_json_or_its_folder_will_do(adit, oracle):
    folder = oracle / "models/bert"
    golden = json.loads((oracle / "tokenizer/tiny_bert.json").read_text())["cases"]
    case = next(c for c in golden if "llamacpp_full" not in c and len(c["text"].split()) > 4)
    for model in (folder, folder / "tokenizer.json", folder / "model-f32.gguf"):
        assert ids(adit.ok("tokenize", model, case["text"], "--special", "--add-special")) == case["full"]
        text = adit.ok("detokenize", model, "--special", *map(str, case["special"])).decode()
        assert text == (case["text"] if case["decode"] is True else case["decode"])


def test_a_folder_without_a_tokenizer_is_refused(adit, tmp_path):
    assert "is a folder" in adit.fails(2, "tokenize", tmp_path, "x")
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "Markov"}}')
    assert "model type 'Markov', this build knows: BPE" in adit.fails(5, "tokenize", tmp_path, "x")


def test_bytes_come_back_as_they_were(adit, smollm2, tmp_path):
    data = "Zoë 😀\r\n\t x  \n\n".encode() + bytes([0]) + b"end"
    path = tmp_path / "data"
    path.write_bytes(data)
    encoded = adit.ok("tokenize", smollm2, "--file", path)
    assert adit.ok("detokenize", smollm2, input=encoded) == data
    assert adit.ok("detokenize", smollm2, *encoded.decode().split()) == data
    assert adit.ok("detokenize", smollm2, ",".join(encoded.decode().split())) == data
    path.write_bytes(encoded)
    assert adit.ok("detokenize", smollm2, "--file", path) == data


def test_bytes_that_are_not_utf8_get_through(adit, smollm2):
    for data in (b"\xff", b"a\xc3", b"\xed\xa0\x80b"):
        adit.ok("tokenize", smollm2, input=data)


def test_control_tokens_have_text_only_when_asked_for(adit, smollm2):
    assert adit.ok("detokenize", smollm2, 6004, 2, 198) == b"hi\n"
    assert adit.ok("detokenize", smollm2, 6004, 2, 198, "--special") == b"hi<|im_end|>\n"
    answer = json.loads(adit.ok("detokenize", smollm2, 6004, 2, "--special", "--json"))
    assert answer == {"text": "hi<|im_end|>", "hex": b"hi<|im_end|>".hex()}


def test_ids_that_are_none(adit, smollm2):
    assert "'x' is no token id" in adit.fails(2, "detokenize", smollm2, "1", "x")
    assert "token id 49152 is not in 0..49151" in adit.fails(2, "detokenize", smollm2, "49152")
    assert adit.ok("detokenize", smollm2, input="") == b""


def test_lines_of_json(adit, smollm2):
    lines = [{"text": CONTROL_TEXT}, {"hex": CONTROL_TEXT.encode().hex()}, {"text": ""}, {"hex": "ff"}]
    answers = adit.ok("tokenize", smollm2, "--jsonl", input="\n".join(map(json.dumps, lines)))
    answers = [json.loads(line) for line in answers.splitlines()]
    assert [answer["ids"] for answer in answers[:3]] == [PLAIN_IDS, PLAIN_IDS, []]
    assert len(answers) == 4
    back = adit.ok("detokenize", smollm2, "--jsonl", input=json.dumps({"ids": PLAIN_IDS}) + "\n")
    assert json.loads(back) == {"text": CONTROL_TEXT, "hex": CONTROL_TEXT.encode().hex()}


def test_a_bad_line_gets_an_error_and_the_others_answers(adit, smollm2):
    done = adit.run("tokenize", smollm2, "--jsonl", input='{"text":"hi"}\nnot json\n{"text":"hi"}\n')
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 5
    assert answers[0] == answers[2] == {"ids": [6004]}
    assert list(answers[1]) == ["error"]
    done = adit.run("detokenize", smollm2, "--jsonl", input='{"ids":[99999999]}\n{"ids":[6004]}\n')
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 5
    assert "99999999" in answers[0]["error"] and answers[1]["text"] == "hi"


def test_lines_are_answered_as_they_come(adit, smollm2):
    process = adit.start("tokenize", smollm2, "--jsonl", stdin=subprocess.PIPE)
    for _ in range(3):
        process.stdin.write(b'{"text":"hi"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"ids": [6004]}
    process.stdin.close()
    assert process.wait(30) == 0


def test_real_vocabulary_agrees_with_its_golden(adit, smollm2, oracle):
    cases = json.loads((oracle / "tokenizer/smollm2.json").read_text())["cases"]
    cases = [case for case in cases if isinstance(case["plain"], list)]  # on one input the reference itself fails
    lines = "\n".join(json.dumps({"hex": case["hex"]}) for case in cases)
    for key, flags in (("plain", []), ("special", ["--special"]), ("full", ["--special", "--add-special"])):
        answers = adit.ok("tokenize", smollm2, "--jsonl", *flags, input=lines).splitlines()
        answers = [json.loads(line) for line in answers]
        assert len(answers) == len(cases)
        wrong = [case["hex"] for case, answer in zip(cases, answers) if case[key] != answer["ids"]]
        assert wrong == []
