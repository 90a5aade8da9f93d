#ifndef ADIT_ENGINE_MEMORY_FIT_H_
#define ADIT_ENGINE_MEMORY_FIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "adit/status.h"
#include "engine/loaded_model.h"
#include "kernels/attention.h"

namespace adit::engine {

// Bytes that the cache takes for one token of `model`, all layers together; unset type: what the kernels prefer.
size_t KvBytesPerToken(const LoadedModel& model, std::optional<kernels::KvType> type);

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

// ResourceExhausted when a file of this size is larger than the available memory (0: unknown, then nothing is refused).
Status CheckWeightsFit(const std::string& path, size_t file_bytes, int64_t available_bytes);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_MEMORY_FIT_H_
