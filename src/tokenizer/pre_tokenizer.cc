// Names as converters write them into GGUF files, and the rule that each stands for.
#include "tokenizer/pre_tokenizer.h"

#include <fmt/ranges.h>

namespace adit::tokenizer {
namespace {

// The expressions that the models' own files give; docs/tokenizers.md says where other readers of GGUF differ.
constexpr std::string_view kDeepSeekLlm[] = {
    R"_([\r\n])_",
    R"_(\s?[)_"
    R"_(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})_"
    R"_(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C})_"
    R"_(\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5})_"
    R"_(\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})_"
    R"_(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45})_"
    R"_(\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4})_"
    R"_(\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB})_"
    R"_(\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115})_"
    R"_(\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})_"
    R"_(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE})_"
    R"_(\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})_"
    R"_(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})_"
    R"_(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2})_"
    R"_(\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})_"
    R"_(]+)_",
    R"_(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)_",
    R"_(\s+$)_",
    R"_([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)_",
    R"_(\p{N}+)_",
};
constexpr std::string_view kDeepSeekCoder[] = {
    R"_([\r\n])_", R"_(\s?\p{L}+)_", R"_(\s?\p{P}+)_", R"_([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)_",
    R"_(\p{N})_",
};
constexpr std::string_view kDeepSeekV3[] = {
    R"_(\p{N}{1,3})_",
    R"_([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)_",
    R"_([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)_"
    R"_([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kYoutu[] = {
    R"_([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|)_"
    R"_([\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|)_"
    R"_([\x{3105}-\x{312F}]+|)_"
    R"_([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)_",
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)_"
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)_"
    R"_(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kFalcon[] = {
    R"_([\p{P}\$\+<=>\^~\|`]+)_",
    R"_('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)_",
    R"_([0-9][0-9][0-9])_",
};
constexpr std::string_view kBloom[] = {
    R"_( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)_",
};
constexpr std::string_view kViking[] = {
    R"_( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)_",
    R"_(\p{N})_",
};
constexpr std::string_view kTekken[] = {
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)_"
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)_"
    R"_(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kChameleon[] = {
    R"_(<sentinel:[0-9]+>)_",    R"_((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)_",
    R"_(([\t\n]|    |  ))_",     R"_(\p{N})_",
    R"_([\p{P}!-/:-@\[-`{-~])_", R"_('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kO200k[] = {
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)_"
    R"_([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)_"
    R"_(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kBailing[] = {
    R"_('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kSeedCoder[] = {
    R"_((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)_"
    R"_(\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kKimiK2[] = {
    R"_([\p{Han}]+|)_"
    R"_([^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+(?i:'s|)_"
    R"_('t|'re|'ve|'m|'ll|'d)?|)_"
    R"_([^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*(?i:'s|)_"
    R"_('t|'re|'ve|'m|'ll|'d)?|)_"
    R"_(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kLaguna[] = {
    R"_([^\n]+|[\n]+)_",
    R"_((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)_"
    R"_(\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kExaoneMoe[] = {
    R"_((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|)_"
    R"_(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kMiniCpm5[] = {
    R"_(\p{N}{1,3})_",
    R"_((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)_"
    R"_(\s*[\r\n]+|\s+(?!\S)|\s+)_",
};
constexpr std::string_view kJais2[] = {
    R"_((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)_"
    R"_(\s*[\r\n]+|)_"
    R"_(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{)_"
    R"_(4}(?!\S)|\s{1,2}(?!\S)|\s{1})_",
};

constexpr PreTokenizer kPreTokenizers[] = {
    {.name = "default", .split = SplitDefault},
    {.name = "gpt-2", .split = SplitGpt2},
    {.name = "phi-2", .split = SplitGpt2},
    {.name = "mpt", .split = SplitGpt2},
    {.name = "olmo", .split = SplitGpt2},
    {.name = "jais", .split = SplitGpt2},
    {.name = "trillion", .split = SplitGpt2},
    {.name = "granite-docling", .split = SplitGpt2},
    {.name = "gigachat", .split = SplitGpt2},
    {.name = "a.x-4.0", .split = SplitGpt2},
    {.name = "mellum", .split = SplitGpt2},
    {.name = "exaone4", .split = SplitGpt2},
    {.name = "jina-es", .split = SplitGpt2},
    {.name = "jina-de", .split = SplitGpt2},
    {.name = "jina-v1-en", .split = SplitGpt2},
    {.name = "jina-v2-es", .split = SplitGpt2},
    {.name = "jina-v2-de", .split = SplitGpt2},
    {.name = "jina-v2-code", .split = SplitGpt2},
    {.name = "roberta-bpe", .split = SplitGpt2},
    {.name = "modern-bert", .split = SplitGpt2},
    {.name = "smollm", .split = SplitDigitsThenGpt2},
    {.name = "starcoder", .split = SplitDigitsThenGpt2},
    {.name = "refact", .split = SplitDigitsThenGpt2},
    {.name = "command-r", .split = SplitDigitsThenGpt2},
    {.name = "codeshell", .split = SplitDigitsThenGpt2},
    {.name = "exaone", .split = SplitDigitsThenGpt2},
    {.name = "minerva-7b", .split = SplitDigitsThenGpt2},
    {.name = "mellum2", .split = SplitDigitsThenGpt2},
    {.name = "llama-bpe", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "llama3", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "llama-v3", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "falcon3", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "falcon-h1", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "pixtral", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "midm-2.0", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "lfm2", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "jina-v5-nano", .split = SplitLlama3, .whole_words = true, .adds_bos = true},
    {.name = "smaug-bpe", .split = SplitLlama3},
    {.name = "dbrx", .split = SplitLlama3},
    {.name = "glm4", .split = SplitLlama3},
    {.name = "chatglm-bpe", .split = SplitLlama3},
    {.name = "qwen2", .split = SplitQwen2},
    {.name = "deepseek-r1-qwen", .split = SplitQwen2},
    {.name = "megrez", .split = SplitQwen2},
    {.name = "kormo", .split = SplitQwen2},
    {.name = "f2llmv2", .split = SplitQwen2},
    {.name = "hunyuan", .split = SplitQwen2},
    {.name = "solar-open", .split = SplitQwen2},
    {.name = "grok-2", .split = SplitQwen2},
    {.name = "stablelm2", .split = SplitQwen2},
    {.name = "qwen35", .split = SplitQwen35},
    {.name = "deepseek-llm", .patterns = kDeepSeekLlm},
    {.name = "deepseek-coder", .patterns = kDeepSeekCoder},
    {.name = "deepseek-v3", .patterns = kDeepSeekV3},
    {.name = "hunyuan-dense", .patterns = kDeepSeekV3},
    {.name = "joyai-llm", .patterns = kDeepSeekV3},
    {.name = "youtu", .patterns = kYoutu, .whole_words = true},
    {.name = "falcon", .patterns = kFalcon},
    {.name = "bloom", .patterns = kBloom},
    {.name = "poro-chat", .patterns = kBloom},
    {.name = "gpt3-finnish", .patterns = kBloom},
    {.name = "viking", .patterns = kViking},
    {.name = "tekken", .patterns = kTekken, .whole_words = true, .adds_bos = true},
    {.name = "chameleon", .patterns = kChameleon, .adds_bos = true},
    {.name = "gpt-4o", .patterns = kO200k},
    {.name = "llama4", .patterns = kO200k},
    {.name = "kanana2", .patterns = kO200k},
    {.name = "talkie", .patterns = kO200k},
    {.name = "minimax-m2", .patterns = kO200k},
    {.name = "granite-embed-multi-97m", .patterns = kO200k, .whole_words = true},
    {.name = "tiny_aya", .split = SplitThreesBeforeBorders, .patterns = kO200k},
    {.name = "cohere2moe", .split = SplitThreesBeforeBorders, .patterns = kO200k},
    {.name = "superbpe", .split = SplitSuperBpe},
    {.name = "bailingmoe", .patterns = kBailing},
    {.name = "bailingmoe2", .patterns = kBailing},
    {.name = "llada-moe", .patterns = kBailing},
    {.name = "seed-coder", .patterns = kSeedCoder},
    {.name = "kimi-k2", .patterns = kKimiK2},
    {.name = "laguna", .patterns = kLaguna},
    {.name = "exaone-moe", .patterns = kExaoneMoe},
    {.name = "minicpm5", .patterns = kMiniCpm5, .whole_words = true},
    {.name = "jais-2", .patterns = kJais2},
};

}  // namespace

const PreTokenizer* FindPreTokenizer(std::string_view name) {
  for (const PreTokenizer& row : kPreTokenizers) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string PreTokenizerNames() {
  std::vector<std::string_view> names;
  for (const PreTokenizer& row : kPreTokenizers) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace adit::tokenizer
