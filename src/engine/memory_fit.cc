#include "engine/memory_fit.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "kernels/dispatch.h"
#include "models/registry.h"
#include "nn/kv_cache.h"

namespace adit::engine {
namespace {

// A page that every cache can have; bytes per token do not depend on its size.
constexpr int kBlockSize = 16;

size_t BytesPerToken(const models::ModelSpec& spec, const kernels::KernelTable& kernels, const KvTypes& types) {
  const kernels::KvType native = kernels.native_kv;
  return nn::KvLayout(spec.CacheSpecs(), types.k.value_or(native), types.v.value_or(native), kBlockSize)
      .bytes_per_token();
}

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

size_t WeightBytes(const LoadedModel& model) {
  const models::ModelWeights& weights = model.weights();
  size_t bytes = weights.packed.size_bytes();
  for (const AlignedBuffer& rows : weights.in_place) bytes += rows.size_bytes();
  for (const models::EmbeddingTable* table : {&weights.embedding, &weights.positions}) {
    if (table->tensor != nullptr) bytes += table->tensor->size_bytes();
  }
  return bytes;
}

size_t KvBytesPerToken(const LoadedModel& model, const KvTypes& types) {
  return BytesPerToken(model.spec(), model.kernels(), types);
}

Result<size_t> KvBytesPerToken(const formats::GgufFile& file, const std::string& isa, const KvTypes& types) {
  ADIT_ASSIGN_OR_RETURN(const models::ModelSpec spec, models::SpecFromGguf(file));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* const kernels, kernels::SelectKernels(isa));
  return BytesPerToken(spec, *kernels, types);
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

Result<int64_t> ParseMemoryBudget(std::string_view text, int64_t machine_bytes) {
  const auto wrong = [&] {
    return InvalidArgument("memory '{}': a number of bytes with K, M or G behind it, or 1% to 100%", text);
  };
  double number = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0.0)) return wrong();
  const std::string_view unit = text.substr(static_cast<size_t>(rest - text.data()));
  if (unit == "%") {
    if (number < 1.0 || number > 100.0) return wrong();
    return static_cast<int64_t>(static_cast<double>(machine_bytes) * number / 100.0);
  }
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1.0},      {"k", 1e3},     {"m", 1e6},    {"g", 1e9},
                                                            {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
  for (const auto& [name, bytes] : kUnits) {
    if (name == unit && number * bytes < 9e18) return static_cast<int64_t>(number * bytes);
  }
  return wrong();
}

Result<int64_t> KvTokensWithin(const CacheBudget& budget) {
  const int64_t left = budget.budget_bytes - budget.used_bytes;
  const int64_t tokens =
      left > 0 ? left / 8 * 7 / static_cast<int64_t>(std::max<size_t>(budget.bytes_per_token, 1)) : 0;
  if (tokens >= kMinContextTokens) return std::min(tokens, budget.most_tokens);
  return ResourceExhausted(
      "KV cache: a memory budget of {:.0f} MiB leaves {:.0f} MiB beside the weights; {} tokens of {} bytes do not fit",
      Mebibytes(budget.budget_bytes), Mebibytes(std::max<int64_t>(left, 0)), kMinContextTokens, budget.bytes_per_token);
}

Status CheckWeightsFit(const std::string& path, size_t file_bytes, int64_t available_bytes) {
  if (available_bytes <= 0 || file_bytes <= static_cast<size_t>(available_bytes)) return Status();
  return ResourceExhausted("{}: the file has {:.0f} MiB, {:.0f} MiB of memory are available", path,
                           Mebibytes(static_cast<int64_t>(file_bytes)), Mebibytes(available_bytes));
}

}  // namespace adit::engine
