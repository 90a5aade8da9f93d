#include "engine/memory_fit.h"

#include <algorithm>

#include "base/error.h"
#include "nn/kv_cache.h"

namespace adit::engine {
namespace {

// A page that every cache can have; bytes per token do not depend on its size.
constexpr int kBlockSize = 16;

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

size_t KvBytesPerToken(const LoadedModel& model, std::optional<kernels::KvType> type) {
  return nn::KvLayout(model.spec().CacheSpecs(), type.value_or(model.kernels().native_kv), kBlockSize)
      .bytes_per_token();
}

Result<int64_t> DefaultContext(const ContextFit& fit) {
  if (fit.available_bytes <= 0) return fit.model_tokens;
  const auto bytes_per_token = static_cast<int64_t>(std::max<size_t>(fit.bytes_per_token, 1));
  const int64_t fitting = fit.available_bytes / 2 / bytes_per_token;
  if (fitting >= fit.model_tokens) return fit.model_tokens;
  if (fitting >= kMinContextTokens) return fitting;
  return ResourceExhausted("KV cache: {} tokens of {} bytes do not fit in half of the {:.0f} MiB of available memory",
                           kMinContextTokens, fit.bytes_per_token, Mebibytes(fit.available_bytes));
}

Status CheckContext(int64_t tokens, const ContextFit& fit) {
  if (tokens < 1 || tokens > fit.model_tokens) {
    return InvalidArgument("a context of {} tokens: the model takes 1 to {}", tokens, fit.model_tokens);
  }
  const auto bytes_per_token = static_cast<int64_t>(std::max<size_t>(fit.bytes_per_token, 1));
  if (fit.available_bytes <= 0 || tokens <= fit.available_bytes / bytes_per_token) return Status();
  return ResourceExhausted(
      "KV cache: {} tokens of {} bytes need {:.0f} MiB, {:.0f} MiB of memory are available; {} tokens would fit",
      tokens, fit.bytes_per_token, Mebibytes(tokens * bytes_per_token), Mebibytes(fit.available_bytes),
      fit.available_bytes / bytes_per_token);
}

Status CheckWeightsFit(const std::string& path, size_t file_bytes, int64_t available_bytes) {
  if (available_bytes <= 0 || file_bytes <= static_cast<size_t>(available_bytes)) return Status();
  return ResourceExhausted("{}: the file has {:.0f} MiB, {:.0f} MiB of memory are available", path,
                           Mebibytes(static_cast<int64_t>(file_bytes)), Mebibytes(available_bytes));
}

}  // namespace adit::engine
