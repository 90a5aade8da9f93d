"""Writes pipelines.json: small tokenizers in the format of tokenizer.json with every part that adit knows, and what the
`tokenizers` library makes of texts. Run with a Python that has `tokenizers`; the version is recorded in the file."""

import json
import random
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

TEXTS = [
    "", " ", "hello", "hello world", " hello  world ", "Hello, World!", "don't we've I'LL",
    "price: $1,234.50\t\tok", "x\n\n\n  y  ", "\r\nline\r\n", "naïve café Ñandú", "e\u0301 u\u0308 A\u030a",
    "ﬁ ① ２ ㌀ Ａ", "你好，世界。", "こんにちは 世界", "안녕하세요", "🙂👍🏽 👨‍👩‍👧", "İstanbul ǅ ß", "a\u00a0b\u3000c\u2028d",
    "\u200bzero\u200d\ufeff", "tab\tnul\x00bel\x07del\x7f", "x²+½=Ⅷ ٣٤", "_under_score__", "<s> hello </s>",
    "a [M] b", "a  [M] b", "a [E]  b", "a [N] b", "[M][E][N]", "x[W]y [W] z[W]", "see <b>b", "<mask> a",
    "▁hello▁world", "Ġhello", "##ing hello##ing", "un ѭѯ ѱ", 
    "a.b,c!d?e", ". ' a n't do not", "A" * 102, "ab abc a\u00adb…", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0001F600\u0301",
    "a中文b 12", "\n", "é" * 5, "క్షి ക്ഷ", "-- --- __ ''", "«q»’",
]

CORPUS = TEXTS + ["the hello world of tokens and the other world", "hello hello hello the the the ing ing walking talking",
                  "return def import world the a of and to in is it you that he was for on are with as"] * 4

# Made by sentencepiece 0.2.3 from thirteen rules, such as "ﬁ" to "fi", "ab" to "X", "abc" to "Y" and U+00AD to nothing.
CHARSMAP = (
    "AAQAAAAgAAAJDQAAAQAAgGIdAAANAACADwAAgMwAAgCBOQAArQkAABcAAIAAAACAqR0AAAsAAICAIAIAixEAAAMAAICgBQAABwAAgIAEAgCARQAAlSQC"
    "AIgNAAARAACAgT0AABQAAIChDQAACQAAgBoAAACRsAIAHAAAAB8AAAAeAAAArNgCACAAAAAjAAAAprEAACUAAAAkAAAAJwAAACYAAAApAAAAKAAAACsA"
    "AAAqAAAALQAAACwAAAAvAAAALgAAALwgAgAwAAAAMwAAADIAAAA1AAAANAAAADcAAAA2AAAAOQAAADgAAAA7AAAAOgAAAD0AAAA8AAAAPwAAAD4AAABB"
    "AAAAQAAAAEMAAABCAAAARQAAAEQAAABHAAAARgAAAEkAAABIAAAASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUgAAAFUAAABUAAAA"
    "VwAAAFYAAABZAAAAWAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEAAABgAAAAYwAAAGIAAABlAAAAZAAAAGcAAABjiQEAaQAAAGEgAABrAAAAagAA"
    "AG0AAABlnAIAbwAAAG4AAABxAAAAcAAAAHMAAAByAAAAdQAAAHQAAAB3AAAAdgAAAHkAAAB4AAAAewAAAHoAAAB9AAAAfAAAAH8AAAB+AAAAgQAAAIAA"
    "AACDAAAAggAAAIUAAACEAAAAhwAAAIYAAACJAAAAiAAAAIsAAACKAAAAjQAAAIwAAACPAAAAjgAAAJEAAACQAAAAkwAAAJIAAACVAAAAlAAAAJcAAACW"
    "AAAAmQAAAJgAAACbAAAAmgAAAJ0AAACcAAAAnwAAAJ4AAAChAAAAoAAAAKMAAACiAAAApQAAAKQAAACnAAAApgAAAKkAAACoAAAAqwAAAKoAAACtAAAA"
    "rAAAAK8AAACuAAAAsQAAALAAAACzAAAAsgAAALUAAAC0AAAAtwAAALYAAAC5AAAAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAAwwAA"
    "AMIAAADFAAAAxAAAAMcAAADGAAAAyQAAAMgAAADCvAEAw6QBAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkA"
    "AADYAAAA2wAAANoAAADdAAAA3AAAAN8AAADeAAAA4QAAAOAAAADjAAAA4gAAAOyUAQDkAAAA5wAAAO+sAQDpAAAA6AAAAOKcAQDj5AEA7QAAAOwAAADv"
    "AAAA7gAAAPEAAADwAAAA8wAAAPIAAAD1AAAA9AAAAPcAAAD2AAAA+QAAAPgAAAD7AAAA+gAAAP0AAAD8AAAA/wAAAP4AAAAAIAAuLi4AMQBBAEUAWABZ"
    "AGFuAGZpAMOpAA=="
)

UNK = ["<unk>", "<s>", "</s>", "<mask>"]


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(CORPUS, trainer)
    return json.loads(tokenizer.to_str())["model"]


def model_table():
    byte_level = Tokenizer(models.BPE())
    byte_level.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    table = {"bytes": train(byte_level, trainers.BpeTrainer(vocab_size=360, initial_alphabet=alphabet))}
    table["bytes_whole"] = {"base": "bytes", "ignore_merges": True}
    table["bytes_some"] = drop_bytes(table["bytes"])

    plain = Tokenizer(models.BPE(unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Metaspace()
    chars = train(plain, trainers.BpeTrainer(vocab_size=260, special_tokens=UNK, limit_alphabet=90))
    table["chars"] = chars
    table["chars_fuse"] = {"base": "chars", "fuse_unk": True}
    table["chars_silent"] = {"base": "chars", "unk_token": None}
    table["chars_fallback"] = with_fallback(chars)

    suffix = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix="@@"))
    suffix.pre_tokenizer = pre_tokenizers.Whitespace()
    table["affixes"] = train(suffix, trainers.BpeTrainer(vocab_size=300, special_tokens=UNK, limit_alphabet=60,
                                                         end_of_word_suffix="</w>", continuing_subword_prefix="@@"))

    unigram = Tokenizer(models.Unigram())
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    table["unigram"] = train(unigram, trainers.UnigramTrainer(vocab_size=220, special_tokens=UNK, unk_token="<unk>"))
    table["unigram"]["vocab"] = [[p, round(s, 5)] for p, s in table["unigram"]["vocab"] if len(p) < 2 or ord(p[0]) < 0x3000]
    table["unigram_fallback"] = dict(table["unigram"], byte_fallback=True,
                                     vocab=table["unigram"]["vocab"] + [[f"<0x{b:02X}>", -20.0] for b in range(256)])

    piece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    piece.normalizer = normalizers.BertNormalizer()
    piece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    table["pieces"] = train(piece, trainers.WordPieceTrainer(vocab_size=260, limit_alphabet=70,
                                                             special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    table["words"] = {"type": "WordLevel", "unk_token": "<unk>",
                      "vocab": {w: i for i, w in enumerate(UNK + ["hello", "world", "the", "a", "b", ",", ".", "▁hello"])}}
    return table


def drop_bytes(model):
    """Lacks the tokens of some bytes."""
    lost = {"Ģ", "ģ", "Ā", "ľ", "ô"}
    kept = [p for p in model["vocab"] if not any(c in lost for c in p)]
    return dict(model, vocab={p: i for i, p in enumerate(kept)},
                merges=[m for m in model["merges"] if not any(c in lost for c in "".join(m))])


def with_fallback(model):
    vocab = dict(model["vocab"])
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    return dict(model, vocab=vocab, byte_fallback=True, fuse_unk=True)


def added(content, **flags):
    base = {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return dict(base, **flags)


ADDED = [added("<s>", special=True), added("</s>", special=True), added("[M]", lstrip=True), added("[E]", rstrip=True),
         added("[N]"), added("[W]", single_word=True), added("<b>", normalized=True), added("<mask>", special=True, lstrip=True)]
LLAMA3 = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
O200K = ("[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
DEEPSEEK = ["\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"]


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def sequence(name, *steps):
    return {"type": "Sequence", name: list(steps)}


def pre(*steps):
    return sequence("pretokenizers", *steps)


def norm(*steps):
    return sequence("normalizers", *steps)


def dec(*steps):
    return sequence("decoders", *steps)


def replace(text, content, kind="String"):
    return {"type": "Replace", "pattern": {kind: text}, "content": content}


def metaspace(scheme="always", cut=True):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut}


def template(before, behind, ids):
    single = [{"SpecialToken": {"id": t, "type_id": 0}} for t in before]
    single += [{"Sequence": {"id": "A", "type_id": 0}}] + [{"SpecialToken": {"id": t, "type_id": 0}} for t in behind]
    tokens = {t: {"id": t, "ids": [ids.get(t, 0)], "tokens": [t]} for t in before + behind}
    return {"type": "TemplateProcessing", "single": single, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": tokens}


BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
SPM_DECODER = dec(replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0})
PREPEND = norm({"type": "Prepend", "prepend": "▁"}, replace(" ", "▁"))
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
PIECE_DECODER = {"type": "WordPiece", "prefix": "##", "cleanup": True}
META_DECODER = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def configurations():
    c = []

    def add(name, model, normalizer=None, pre_tokenizer=None, decoder=None, **more):
        c.append({"name": name, "model": model, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder, **more})

    add("gpt2", "bytes", None, byte_level(), BYTES)
    add("gpt2_prefix", "bytes", None, byte_level(prefix=True), BYTES)
    add("gpt2_no_regex", "bytes", None, byte_level(regex=False), BYTES)
    add("llama3", "bytes_whole", None, pre(split(LLAMA3), byte_level(regex=False)), BYTES)
    add("llama3_inverted", "bytes", None, pre(split(LLAMA3, "Removed", True), byte_level(regex=False)), BYTES)
    add("o200k", "bytes", {"type": "NFC"}, pre(split(O200K), byte_level(regex=False)), BYTES)
    add("bloom", "bytes", None, pre(split(BLOOM), byte_level(regex=False)), BYTES)
    add("deepseek", "bytes", None, pre(*[split(p) for p in DEEPSEEK], byte_level(regex=False)), BYTES)
    add("digits", "bytes", None, pre({"type": "Digits", "individual_digits": True}, byte_level()), BYTES)
    add("digit_rows", "bytes", None, pre({"type": "Digits", "individual_digits": False}, byte_level()), BYTES)
    add("falcon", "bytes", None, pre({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(), {"type": "Digits", "individual_digits": False},
                                     split("[0-9][0-9][0-9]")), BYTES)
    add("bytes_normalizer", "bytes", {"type": "ByteLevel"}, split("Ġ", "MergedWithNext", kind="String"), BYTES)
    add("bytes_missing", "bytes_some", None, byte_level(), BYTES)
    add("fixed_length", "bytes", None, pre({"type": "FixedLength", "length": 4}, byte_level(regex=False)), BYTES)
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True) if behavior in ("Removed", "MergedWithNext") else (False,):
            add(f"split_{behavior}_{invert}", "bytes", None, pre(split("[aeiou ]", behavior, invert), byte_level(regex=False)), BYTES)
    add("empty_matches", "bytes", None, pre(split("(?=[A-Z])|x*", "MergedWithNext"), byte_level(regex=False)), BYTES)
    add("word_borders", "bytes", None, pre(split("\\b\\w+\\b|\\h+|\\S", "Isolated"), byte_level(regex=False)), BYTES)
    add("dot_all", "bytes", None, pre(split("(?m:a.)|^.|\\w{1,2}+$", "Isolated"), byte_level(regex=False)), BYTES)
    add("whitespace", "words", None, {"type": "Whitespace"}, None)
    add("whitespace_split", "words", {"type": "Lowercase"}, {"type": "WhitespaceSplit"}, None)
    add("delimiter", "words", None, {"type": "CharDelimiterSplit", "delimiter": "e"}, {"type": "Fuse"})
    add("llama2", "chars_fallback", PREPEND, None, SPM_DECODER)
    add("gemma", "chars_fallback", replace(" ", "▁"), split(" ", "MergedWithPrevious", kind="String"),
        dec(replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}))
    add("mistral", "chars_fallback", None, metaspace("first", False), SPM_DECODER)
    add("metaspace_never", "chars", None, metaspace("never"), {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True})
    add("metaspace_digits", "chars_fuse", None, pre({"type": "WhitespaceSplit"}, metaspace("always"), {"type": "Digits", "individual_digits": True}), META_DECODER)
    add("unknown_dropped", "chars_silent", None, metaspace("first"), META_DECODER)
    add("strip_both", "chars", norm({"type": "Strip", "strip_left": True, "strip_right": True}, replace("\\s+", "▁", "Regex")), None,
        dec(replace("▁", " "), {"type": "Fuse"}, {"type": "Strip", "content": "e", "start": 2, "stop": 2}))
    add("strip_tokens", "chars", {"type": "Strip", "strip_left": False, "strip_right": True}, {"type": "WhitespaceSplit"},
        {"type": "Strip", "content": "l", "start": 1, "stop": 1})
    add("affixes", "affixes", {"type": "Lowercase"}, {"type": "Whitespace"}, {"type": "BPEDecoder", "suffix": "</w>"})
    add("t5", "unigram", {"type": "NFKC"}, metaspace("always"), META_DECODER)
    add("xlm", "unigram", norm({"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " ", "Regex")), pre({"type": "WhitespaceSplit"}, metaspace("always")), META_DECODER)
    add("unigram_fallback", "unigram_fallback", {"type": "NFKD"}, metaspace("first"), dec({"type": "ByteFallback"}, META_DECODER))
    add("charsmap", "unigram", norm({"type": "Precompiled", "precompiled_charsmap": CHARSMAP}), metaspace("first"), META_DECODER)
    add("albert", "unigram", norm(replace("``", "\""), {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}), metaspace("always"), META_DECODER)
    add("bert", "pieces", BERT, {"type": "BertPreTokenizer"}, PIECE_DECODER)
    add("bert_cased", "pieces", dict(BERT, lowercase=False), {"type": "BertPreTokenizer"}, dict(PIECE_DECODER, cleanup=False))
    add("bert_accents", "pieces", dict(BERT, strip_accents=False, clean_text=False, handle_chinese_chars=False), pre({"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "MergedWithPrevious"}), PIECE_DECODER)
    add("nfd", "pieces", {"type": "NFD"}, {"type": "Whitespace"}, PIECE_DECODER)
    add("normalized_specials", "chars", PREPEND, None, dec(replace("▁", " "), {"type": "Fuse"}),
        added=[added("<s>", special=True, normalized=True), added("ell", normalized=True), added("<b>", normalized=True, lstrip=True), added("world")])
    add("lowercase_added", "pieces", BERT, {"type": "BertPreTokenizer"}, PIECE_DECODER,
        added=[added("[N]", normalized=True), added("WORLD", normalized=True, single_word=True), added("café", normalized=True)])
    return c


def model_of(name, table):
    """Some are written as what differs from another."""
    model = dict(table[name])
    base = model.pop("base", None)
    return {**table[base], **model} if base else model


def slim(description):
    """Without what is the default."""
    tokens = [{k: v for k, v in t.items() if v is not False or k == "normalized"} for t in description["added_tokens"]]
    return {k: v for k, v in {**description, "added_tokens": tokens}.items() if v is not None}


def build(config, table):
    model = model_of(config["model"], table)
    vocab = model["vocab"] if isinstance(model["vocab"], dict) else {p: i for i, (p, _) in enumerate(model["vocab"])}
    next_id = len(vocab)
    tokens = []
    for token in config.get("added", ADDED):
        known = vocab.get(token["content"])
        tokens.append({"id": next_id if known is None else known, **token})
        next_id += known is None
    tokens.sort(key=lambda t: t["id"])
    ids = {**vocab, **{t["content"]: t["id"] for t in tokens}}
    ends = {"llama3": template(["<s>"], [], ids), "bert": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "xlm": {"type": "RobertaProcessing", "sep": ["</s>", ids.get("</s>", 0)], "cls": ["<s>", ids.get("<s>", 0)], "trim_offsets": True, "add_prefix_space": True},
            "t5": template([], ["</s>"], ids), "llama2": sequence("processors", BYTES, template(["<s>", "<s>"], ["</s>"], ids))}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": config["normalizer"],
            "pre_tokenizer": config["pre_tokenizer"], "post_processor": ends.get(config["name"]), "decoder": config["decoder"], "model": model}


def decode(tokenizer, ids):
    """None where the library panics, as its Strip does on an empty text."""
    try:
        return tokenizer.decode(ids, skip_special_tokens=False)
    except BaseException as error:  # what a panic is in Python
        if type(error).__name__ != "PanicException":
            raise
        return None


def main():
    random.seed(4)
    table = model_table()
    out = {"made_by": "tokenizers " + tokenizers.__version__, "texts": TEXTS, "models": table, "tokenizers": []}
    for config in configurations():
        description = build(config, table)
        tokenizer = Tokenizer.from_str(json.dumps(description))
        normalized = {t["id"] for t in description["added_tokens"] if t["normalized"]}
        cases = []
        for text in TEXTS:
            tokenizer.encode_special_tokens = False
            special = tokenizer.encode(text, add_special_tokens=False).ids
            full = tokenizer.encode(text, add_special_tokens=True).ids
            tokenizer.encode_special_tokens = True
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            case = {"ids": special, "decoded": decode(tokenizer, special)}
            if config["normalizer"] and any(i in normalized for i in special):
                case["decoded"] = None  # this version gives the normalized text of an added token, others its own
            if full != special:
                case["full"] = full
            if plain != special:
                case["plain"] = plain
            if case["decoded"] == text:
                del case["decoded"]
            cases.append(case)
        del description["model"]
        out["tokenizers"].append({"name": config["name"], "model": config["model"], "file": slim(description), "cases": cases})
    path = Path(__file__).with_name("pipelines.json")
    path.write_text(json.dumps(out, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(out["tokenizers"]), "tokenizers,", path.stat().st_size, "bytes")


main()
