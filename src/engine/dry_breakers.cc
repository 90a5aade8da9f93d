#include "engine/dry_breakers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace adit::engine {

DryBreakers ResolveDryBreakers(const tokenizer::Tokenizer& tokenizer, std::span<const std::string_view> texts) {
  DryBreakers breakers;
  const auto vocab_size = static_cast<int32_t>(tokenizer.vocab_size());
  for (int32_t token = 0; token < vocab_size; ++token) {
    const std::string bytes = tokenizer.TokenBytes(token, /*with_special=*/true);
    const bool breaks = std::any_of(texts.begin(), texts.end(),
                                    [&](std::string_view text) { return bytes.find(text) != std::string::npos; });
    if (breaks) breakers.tokens.push_back(token);
  }
  for (const std::string_view text : texts) {
    std::vector<int32_t> spelling = tokenizer.Encode(text, /*parse_special=*/false, /*add_special=*/false);
    if (spelling.size() > 1) breakers.sequences.push_back(std::move(spelling));
  }
  return breakers;
}

}  // namespace adit::engine
