#include "server/fim_format.h"

#include "server/chat_prompt.h"

namespace adit::server {
namespace {

struct Spelling {
  const char* prefix;
  const char* suffix;
  const char* middle;
  const char* repository;
  const char* file;
};

constexpr Spelling kSpellings[] = {
    {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>"},  // Qwen, CodeGemma
    {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<repo_name>", "<file_sep>"},            // StarCoder, Granite
    {"<fim-prefix>", "<fim-suffix>", "<fim-middle>", "", ""},                                 // SantaCoder
    {"<PRE>", "<SUF>", "<MID>", "", ""},                                                      // Code Llama
    {"\u2581<PRE>", "\u2581<SUF>", "\u2581<MID>", "", ""},
    {"<\uFF5Cfim\u2581begin\uFF5C>", "<\uFF5Cfim\u2581hole\uFF5C>", "<\uFF5Cfim\u2581end\uFF5C>", "", ""},  // DeepSeek
};

// The id of a control token with this text; nothing when there is none.
std::optional<int32_t> TokenOf(const tokenizer::Tokenizer& tokenizer, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::vector<int32_t> ids = tokenizer.Encode(text, /*parse_special=*/true, /*add_special=*/false);
  const bool is_one = ids.size() == 1 && tokenizer.Type(ids[0]) != tokenizer::TokenType::kNormal;
  return is_one ? std::optional(ids[0]) : std::nullopt;
}

}  // namespace

std::optional<FimFormat> FindFimFormat(const tokenizer::Tokenizer& tokenizer) {
  for (const Spelling& spelling : kSpellings) {
    const bool has_all = TokenOf(tokenizer, spelling.prefix) && TokenOf(tokenizer, spelling.suffix) &&
                         TokenOf(tokenizer, spelling.middle);
    if (!has_all) continue;
    FimFormat format{.prefix = spelling.prefix,
                     .suffix = spelling.suffix,
                     .middle = spelling.middle,
                     .repository = {},
                     .file = {},
                     .stop_ids = {}};
    const std::optional<int32_t> repository = TokenOf(tokenizer, spelling.repository);
    const std::optional<int32_t> file = TokenOf(tokenizer, spelling.file);
    if (repository && file) {
      format.repository = spelling.repository;
      format.file = spelling.file;
    }
    // Behind them another file would begin.
    if (repository) format.stop_ids.push_back(*repository);
    if (file) format.stop_ids.push_back(*file);
    return format;
  }
  return std::nullopt;
}

std::vector<int32_t> EncodeGap(const tokenizer::Tokenizer& tokenizer, const FimFormat& format, const FimGap& gap) {
  std::vector<tokenizer::TextSegment> segments;
  const auto mark = [&](std::string_view text) { segments.push_back({text, /*trusted=*/true}); };
  const auto add = [&](std::string_view text) {
    if (!text.empty()) segments.push_back({text, /*trusted=*/false});
  };
  if (!gap.extra.empty()) {
    mark(format.repository);
    add("project\n");
    for (const auto& [name, text] : gap.extra) {
      mark(format.file);
      add(name);
      add("\n");
      add(text);
      add("\n");
    }
    mark(format.file);
    add("file\n");
  }
  mark(format.prefix);
  add(gap.before);
  mark(format.suffix);
  add(gap.behind);
  mark(format.middle);
  add(gap.begun);
  return EncodeToContinue(tokenizer, segments);
}

}  // namespace adit::server
