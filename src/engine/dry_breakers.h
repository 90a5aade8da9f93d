#ifndef ADIT_ENGINE_DRY_BREAKERS_H_
#define ADIT_ENGINE_DRY_BREAKERS_H_

#include <span>
#include <string_view>

#include "sample/sampling_params.h"
#include "tokenizer/tokenizer.h"

namespace adit::engine {

// Texts that end repetitions for the DRY sampler where a request names none.
inline constexpr std::string_view kDefaultDryBreakers[] = {"\n", ":", "\"", "*"};

// The token ids by which `texts` end repetitions: every token in whose bytes one of them stands, and the spelling of
// each text that takes several tokens. A walk through the vocabulary: tens of milliseconds for the largest.
DryBreakers ResolveDryBreakers(const tokenizer::Tokenizer& tokenizer, std::span<const std::string_view> texts);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_DRY_BREAKERS_H_
