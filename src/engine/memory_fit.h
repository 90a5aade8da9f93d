#ifndef ADIT_ENGINE_MEMORY_FIT_H_
#define ADIT_ENGINE_MEMORY_FIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "engine/kv_types.h"
#include "engine/loaded_model.h"

namespace adit::engine {

// Bytes that the cache takes for one token of `model`, all layers together.
size_t KvBytesPerToken(const LoadedModel& model, const KvTypes& types);
// The same of a model that is not loaded, whose kernels will be those of `isa`. Errors as CheckRunnable and
// kernels::SelectKernels.
Result<size_t> KvBytesPerToken(const formats::GgufFile& file, const std::string& isa, const KvTypes& types);

// Bytes that the weights of `model` take: packed ones, and the embeddings, which are read where the file is mapped.
size_t WeightBytes(const LoadedModel& model);

// How long a context may be.
struct ContextFit {
  int64_t model_tokens = 0;     // that the model was made for
  size_t bytes_per_token = 0;   // of the cache
  int64_t available_bytes = 0;  // 0: unknown, then memory sets no bound
};

// The context to use when nobody asked for one: the model's own, or as many tokens as half of the available memory has
// room for. ResourceExhausted when not even kMinContextTokens fit.
Result<int64_t> DefaultContext(const ContextFit& fit);
inline constexpr int64_t kMinContextTokens = 64;

// Whether a context of `tokens` can be had: InvalidArgument above the model's own or below 1, ResourceExhausted when
// the available memory has no room for it; each with both numbers.
Status CheckContext(int64_t tokens, const ContextFit& fit);

// Bytes from "24G" (K, M, G times 1024; k, m, g times 1000) or from "80%" of machine_bytes. InvalidArgument for
// anything else, for less than 1 % and more than 100 %.
Result<int64_t> ParseMemoryBudget(std::string_view text, int64_t machine_bytes);

// What is known when the cache is sized from a budget for the whole process.
struct CacheBudget {
  int64_t budget_bytes = 0;
  int64_t used_bytes = 0;      // by the process, the weights included
  size_t bytes_per_token = 0;  // of the cache
  int64_t most_tokens = 0;     // that sequences could ever use
};
// Tokens of the cache: what the budget leaves after the weights, and an eighth of that for scratch, at most
// most_tokens. ResourceExhausted, with the numbers, when not even kMinContextTokens fit.
Result<int64_t> KvTokensWithin(const CacheBudget& budget);

// ResourceExhausted when a file of this size is larger than the available memory (0: unknown, then nothing is refused).
Status CheckWeightsFit(const std::string& path, size_t file_bytes, int64_t available_bytes);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MEMORY_FIT_H_
