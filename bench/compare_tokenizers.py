"""Measures the `tokenizers` package on the vocabulary of a GGUF file, on one core, beside what tokenizer_bench prints.

usage: compare_tokenizers.py MODEL.gguf OUT.json FILE...

Writes the vocabulary to OUT.json as a tokenizer.json, which tokenizer_bench can load too. Needs the PyPI packages gguf and
tokenizers."""

import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from gguf import GGUFReader  # noqa: E402
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers  # noqa: E402

CONTROL, USER_DEFINED, UNKNOWN = 3, 4, 2
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)


def byte_level(pre):
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    if pre == "qwen2":
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2), "isolated"), plain])
    if pre == "llama-bpe":
        return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), plain])
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if pre == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    if pre == "gpt-2":
        return gpt2
    sys.exit(f"pre-tokenizer {pre} is not known here")


def spm_merges(tokens, scores, types):
    """Every way to cut a token into two tokens, by the score of the token."""
    ids = {t: i for i, t in enumerate(tokens)}
    merges = []
    for i, token in enumerate(tokens):
        if types[i] in (CONTROL, UNKNOWN) or len(token) < 2:
            continue
        local = [(token[:k], token[k:]) for k in range(1, len(token)) if token[:k] in ids and token[k:] in ids]
        local.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        merges += [(scores[i], pair) for pair in local]
    merges.sort(key=lambda entry: entry[0], reverse=True)
    return [pair for _, pair in merges]


def rebuild(path):
    fields = GGUFReader(path).fields

    def get(key):
        return fields["tokenizer.ggml." + key].contents()

    tokens, types = get("tokens"), get("token_type")
    vocab = {t: i for i, t in enumerate(tokens)}
    if get("model") == "gpt2":
        merges = [tuple(m.split(" ")) for m in get("merges")]
        made = Tokenizer(models.BPE(vocab, merges, ignore_merges=get("pre") == "llama-bpe"))
        made.pre_tokenizer = byte_level(get("pre"))
        made.decoder = decoders.ByteLevel()
    else:
        merges = spm_merges(tokens, get("scores"), types)
        made = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
        made.normalizer = normalizers.Replace(" ", "▁")
        made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
        made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    made.add_special_tokens([AddedToken(t, normalized=False) for t, kind in zip(tokens, types) if kind in (CONTROL, UNKNOWN)])
    made.add_tokens([AddedToken(t, normalized=False) for t, kind in zip(tokens, types) if kind == USER_DEFINED])
    return made


def best(run, runs=3):
    times = []
    for _ in range(runs):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main():
    model, out, *files = sys.argv[1:]
    tokenizer = rebuild(model)
    tokenizer.save(out)
    tokenizer.encode_special_tokens = True
    for name in files:
        with open(name, "rb") as file:
            text = file.read().decode()
        size = len(text.encode()) / 1e6
        lines = text.splitlines(keepends=True)
        count = len(tokenizer.encode(text, add_special_tokens=False).ids)
        whole = best(lambda: tokenizer.encode(text, add_special_tokens=False))
        each = best(lambda: [tokenizer.encode(line, add_special_tokens=False) for line in lines])
        batch = best(lambda: tokenizer.encode_batch_fast(lines, add_special_tokens=False))
        print(f"{name}: {count} tokens, whole {size / whole:.2f} MB/s, lines {size / each:.2f} MB/s, batch {size / batch:.2f} MB/s", flush=True)


main()
