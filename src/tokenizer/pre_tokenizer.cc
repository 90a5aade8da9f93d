#include "tokenizer/pre_tokenizer.h"

#include <fmt/ranges.h>

namespace adit::tokenizer {
namespace {

// Names as converters write them into GGUF files, and the rule that each stands for.
constexpr PreTokenizer kPreTokenizers[] = {
    {"default", SplitDefault},
    {"gpt-2", SplitGpt2},
    {"phi-2", SplitGpt2},
    {"mpt", SplitGpt2},
    {"olmo", SplitGpt2},
    {"jais", SplitGpt2},
    {"trillion", SplitGpt2},
    {"granite-docling", SplitGpt2},
    {"gigachat", SplitGpt2},
    {"a.x-4.0", SplitGpt2},
    {"mellum", SplitGpt2},
    {"exaone4", SplitGpt2},
    {"smollm", SplitDigitsThenGpt2},
    {"starcoder", SplitDigitsThenGpt2},
    {"refact", SplitDigitsThenGpt2},
    {"command-r", SplitDigitsThenGpt2},
    {"codeshell", SplitDigitsThenGpt2},
    {"exaone", SplitDigitsThenGpt2},
    {"minerva-7b", SplitDigitsThenGpt2},
    {"mellum2", SplitDigitsThenGpt2},
    {"llama-bpe", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"llama3", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"llama-v3", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"falcon3", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"falcon-h1", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"pixtral", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"midm-2.0", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"lfm2", SplitLlama3, /*whole_words=*/true, /*adds_bos=*/true},
    {"smaug-bpe", SplitLlama3},
    {"dbrx", SplitLlama3},
    {"glm4", SplitLlama3},
    {"chatglm-bpe", SplitLlama3},
    {"qwen2", SplitQwen2},
    {"deepseek-r1-qwen", SplitQwen2},
    {"megrez", SplitQwen2},
    {"kormo", SplitQwen2},
    {"f2llmv2", SplitQwen2},
    {"hunyuan", SplitQwen2},
    {"solar-open", SplitQwen2},
    {"grok-2", SplitQwen2},
    {"stablelm2", SplitQwen2},
    {"qwen35", SplitQwen35},
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
