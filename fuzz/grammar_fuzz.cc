// A schema, an expression, rules or a structural tag, from bytes to texts that are drawn under it: the first byte says
// which, the second how texts are drawn.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "grammar/compiler.h"
#include "grammar/grammar.h"
#include "grammar/test_vocabulary.h"

namespace {

using namespace adit;           // NOLINT(google-build-using-namespace)
using namespace adit::grammar;  // NOLINT(google-build-using-namespace)

constexpr int kMaxTokens = 40;

// A text of tokens that the grammar allows; empty when it did not come to an end.
std::string Draw(const Grammar& grammar, const TestVocabulary& vocabulary, uint64_t seed) {
  const std::unique_ptr<Matcher> matcher = grammar.NewMatcher();
  std::vector<uint32_t> mask(MaskWords(grammar.vocab_size()));
  std::string text;
  for (int i = 0; i < kMaxTokens; ++i) {
    const Result<bool> masks = matcher->FillMask(mask);
    if (!masks.ok()) return {};
    std::vector<int32_t> allowed;
    for (int32_t token = 0; token < vocabulary.end(); ++token) {
      const bool is_set = (mask[static_cast<size_t>(token) / 32] >> (static_cast<uint32_t>(token) % 32) & 1U) != 0;
      if (!*masks || is_set) allowed.push_back(token);
    }
    if (matcher->complete() && (allowed.empty() || RandomBits(seed, static_cast<uint64_t>(i), 1) % 2 == 0)) return text;
    if (allowed.empty()) return {};
    const int32_t token = allowed[RandomBits(seed, static_cast<uint64_t>(i)) % allowed.size()];
    const Result<bool> accepted = matcher->Accept(token);
    ADIT_CHECK(!accepted.ok() || *accepted);
    if (!accepted.ok()) return {};
    text += vocabulary.TokenBytes(token, false);
  }
  return {};
}

// JSON by its grammar, whatever its numbers and escapes stand for.
bool IsJson(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return true;
  } catch (const nlohmann::json::exception&) {
    return text.find("\\u") != std::string::npos;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TestVocabulary vocabulary({"{\"", "\":", "true", "12", "},", "]}"});
  static Compiler compiler(vocabulary, {.max_grammar_bytes = size_t{64} << 20, .max_cache_bytes = 0});
  if (size < 2) return 0;
  const GrammarSpec spec{.kind = static_cast<GrammarKind>(data[0] % 6),
                         .text = std::string(reinterpret_cast<const char*>(data) + 2, size - 2),
                         .thoughts = static_cast<GrammarThoughts>(data[0] / 6 % 3),
                         .any_whitespace = data[0] < 128};
  const Result<GrammarPtr> grammar = compiler.Compile(spec);
  if (!grammar.ok()) {
    ADIT_CHECK(IsValidUtf8(grammar.status().message()));
    return 0;
  }
  const std::string text = Draw(**grammar, vocabulary, data[1]);
  const bool is_json = spec.kind == GrammarKind::kJsonSchema || spec.kind == GrammarKind::kJsonObject;
  if (!text.empty() && is_json && spec.thoughts == GrammarThoughts::kNone) ADIT_CHECK(IsJson(ReplaceInvalidUtf8(text)));
  return 0;
}
