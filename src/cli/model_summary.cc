#include "cli/model_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <variant>

#include "cli/printable.h"
#include "engine/model_tokenizer.h"
#include "engine/runnable.h"
#include "formats/ggml_type.h"
#include "tokenizer/tokenizer.h"

namespace adit::cli {
namespace {

constexpr size_t kShownElements = 6;

constexpr Hyperparameter kHyperparameters[] = {
    {"context", "context_length", {}},
    {"embedding", "embedding_length", {}},
    {"layers", "block_count", {}},
    {"heads", "attention.head_count", {}},
    {"KV heads", "attention.head_count_kv", {}},
    {"feed-forward", "feed_forward_length", {}},
    {"experts", "expert_count", {}},
    {"experts used", "expert_used_count", {}},
    {"window", "attention.sliding_window", {}},
};

template <typename T>
std::string RangeText(const std::vector<T>& values) {
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low == *high ? fmt::format("{}", *low) : fmt::format("{} to {}", *low, *high);
}

std::string NumberText(const formats::GgufValue* value) {
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<int64_t>(&value->value)) return std::to_string(*number);
  if (const auto* number = std::get_if<uint64_t>(&value->value)) return std::to_string(*number);
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value->value)) return RangeText(*numbers);
  if (const auto* numbers = std::get_if<std::vector<uint64_t>>(&value->value)) return RangeText(*numbers);
  return {};
}

std::string StringOrEmpty(const formats::GgufMetadata& metadata, std::string_view key) {
  const Result<std::string_view> text = metadata.GetString(key);
  return text.ok() ? std::string(*text) : std::string();
}

// "apache-2.0", or where the file only names or links a licence, that.
std::string LicenseOf(const formats::GgufMetadata& metadata) {
  const std::string license = StringOrEmpty(metadata, "general.license");
  const std::string name = StringOrEmpty(metadata, "general.license.name");
  return license.empty() || (license == "other" && !name.empty()) ? name : license;
}

TokenizerSummary SummarizeTokenizer(const formats::GgufFile& file) {
  TokenizerSummary summary;
  const Result<std::unique_ptr<tokenizer::Tokenizer>> tokenizer = engine::OpenTokenizer(file);
  if (!tokenizer.ok()) {
    summary.error = tokenizer.status().message();
    return summary;
  }
  const tokenizer::Tokenizer& tok = **tokenizer;
  const std::span<const int32_t> ends = tok.end_of_generation_ids();
  summary.description = tok.Description();
  summary.num_tokens = tok.vocab_size();
  summary.bos_id = tok.bos_id();
  summary.eos_id = tok.eos_id();
  summary.end_of_generation_ids.assign(ends.begin(), ends.end());
  summary.adds_bos = tok.adds_bos();
  summary.adds_eos = tok.adds_eos();
  return summary;
}

void CountTensors(const formats::GgufFile& file, ModelSummary& summary) {
  std::map<std::string_view, TensorTypeUse> by_type;
  for (const formats::TensorInfo& tensor : file.tensors()) {
    const std::string_view type = formats::GgmlTypeOf(tensor.dtype).name;
    TensorTypeUse& use = by_type[type];
    use.type = type;
    ++use.num_tensors;
    use.num_elements += tensor.num_elements();
    use.size_bytes += static_cast<int64_t>(tensor.size_bytes());
  }
  for (const auto& [type, use] : by_type) {
    summary.types.push_back(use);
    summary.num_parameters += use.num_elements;
    summary.tensor_bytes += use.size_bytes;
  }
  std::stable_sort(summary.types.begin(), summary.types.end(),
                   [](const TensorTypeUse& a, const TensorTypeUse& b) { return a.size_bytes > b.size_bytes; });
}

template <typename T>
std::string ElementText(const T& element) {
  if constexpr (std::is_same_v<T, std::string>) {
    return fmt::format("\"{}\"", OneLine(element, 40));
  } else if constexpr (std::is_same_v<T, bool>) {
    return element ? "true" : "false";
  } else {
    return fmt::format("{}", element);
  }
}

template <typename T>
std::string ArrayText(const std::vector<T>& values) {
  std::string text = "[";
  for (size_t i = 0; i < std::min(values.size(), kShownElements); ++i) {
    if (i > 0) text += ", ";
    text += ElementText(T(values[i]));
  }
  if (values.size() <= kShownElements) return text + "]";
  return text + fmt::format(", ...], {} in all", values.size());
}

}  // namespace

ModelSummary Summarize(const formats::GgufFile& file) {
  const formats::GgufMetadata& metadata = file.metadata();
  ModelSummary summary;
  summary.architecture = StringOrEmpty(metadata, "general.architecture");
  summary.name = StringOrEmpty(metadata, "general.name");
  summary.license = LicenseOf(metadata);
  summary.license_link = StringOrEmpty(metadata, "general.license.link");
  for (const Hyperparameter& row : kHyperparameters) {
    summary.hyperparameters.push_back(row);
    summary.hyperparameters.back().text = NumberText(metadata.Find(summary.architecture + "." + row.key));
  }
  CountTensors(file, summary);
  summary.tokenizer = SummarizeTokenizer(file);
  summary.chat_template = StringOrEmpty(metadata, "tokenizer.chat_template");
  summary.cannot_run = engine::CheckRunnable(file).message();
  return summary;
}

std::string ValueText(const formats::GgufValue& value, size_t max_bytes) {
  return std::visit(
      [max_bytes](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return OneLine(held, max_bytes);
        } else if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T>) {
          return ElementText(held);
        } else {
          return ArrayText(held);
        }
      },
      value.value);
}

std::string ShapeText(const formats::TensorInfo& tensor) {
  std::string text = "[";
  for (int i = 0; i < tensor.rank; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(tensor.shape[static_cast<size_t>(i)]);
  }
  return text + "]";
}

}  // namespace adit::cli
