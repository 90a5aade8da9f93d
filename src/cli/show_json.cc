#include "cli/show_json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "formats/ggml_type.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kLongArray = 32;
constexpr size_t kElementsInJson = 8;

OrderedJson TextOrNull(const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

template <typename T>
OrderedJson OptionalJson(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

template <typename T>
OrderedJson ArrayJson(const std::vector<T>& values, bool whole) {
  const size_t count = whole || values.size() <= kLongArray ? values.size() : kElementsInJson;
  OrderedJson elements = OrderedJson::array();
  for (size_t i = 0; i < count; ++i) elements.push_back(T(values[i]));
  if (count == values.size()) return elements;
  return {{"length", values.size()}, {"first", std::move(elements)}};
}

OrderedJson ValueJson(const formats::GgufValue& value, bool whole_arrays) {
  return std::visit(
      [whole_arrays](const auto& held) -> OrderedJson {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T>) {
          return held;
        } else {
          return ArrayJson(held, whole_arrays);
        }
      },
      value.value);
}

OrderedJson TokenizerJson(const TokenizerSummary& tokenizer) {
  if (!tokenizer.error.empty()) return {{"error", tokenizer.error}};
  return {{"description", tokenizer.description},
          {"tokens", tokenizer.num_tokens},
          {"bos_id", OptionalJson(tokenizer.bos_id)},
          {"eos_id", OptionalJson(tokenizer.eos_id)},
          {"end_of_generation_ids", tokenizer.end_of_generation_ids},
          {"adds_bos", tokenizer.adds_bos},
          {"adds_eos", tokenizer.adds_eos}};
}

OrderedJson HyperparametersJson(const formats::GgufFile& file, const ModelSummary& summary) {
  OrderedJson json = OrderedJson::object();
  for (const Hyperparameter& row : summary.hyperparameters) {
    const formats::GgufValue* value = file.metadata().Find(summary.architecture + "." + row.key);
    if (value != nullptr) json[row.key] = ValueJson(*value, /*whole_arrays=*/true);
  }
  return json;
}

OrderedJson TypesJson(const ModelSummary& summary) {
  OrderedJson json = OrderedJson::array();
  for (const TensorTypeUse& use : summary.types) {
    json.push_back({{"type", use.type},
                    {"tensors", use.num_tensors},
                    {"parameters", use.num_elements},
                    {"bytes", use.size_bytes}});
  }
  return json;
}

OrderedJson TensorsJson(const formats::GgufFile& file) {
  OrderedJson json = OrderedJson::array();
  for (const formats::TensorInfo& tensor : file.tensors()) {
    json.push_back({{"name", tensor.name},
                    {"type", formats::GgmlTypeOf(tensor.dtype).name},
                    {"shape", std::vector<int64_t>(tensor.shape.begin(), tensor.shape.begin() + tensor.rank)},
                    {"bytes", tensor.size_bytes()}});
  }
  return json;
}

}  // namespace

std::string ModelJson(const formats::GgufFile& file, const ModelSummary& summary, bool whole_arrays) {
  OrderedJson metadata = OrderedJson::object();
  for (const auto& [key, value] : file.metadata().values()) metadata[key] = ValueJson(value, whole_arrays);
  OrderedJson json;
  json["path"] = file.path();
  json["file_bytes"] = file.size_bytes();
  json["format"] = file.Format();
  json["gguf_version"] = file.version() == 0 ? OrderedJson(nullptr) : OrderedJson(file.version());
  json["architecture"] = TextOrNull(summary.architecture);
  json["name"] = TextOrNull(summary.name);
  json["runs"] = summary.cannot_run.empty();
  json["cannot_run"] = TextOrNull(summary.cannot_run);
  json["parameters"] = summary.num_parameters;
  json["hyperparameters"] = HyperparametersJson(file, summary);
  json["types"] = TypesJson(summary);
  json["tokenizer"] = TokenizerJson(summary.tokenizer);
  json["chat_template"] = TextOrNull(summary.chat_template);
  json["license"] = TextOrNull(summary.license);
  json["license_link"] = TextOrNull(summary.license_link);
  json["tensors"] = TensorsJson(file);
  json["metadata"] = std::move(metadata);
  // Names and strings of a file need not be UTF-8.
  return json.dump(2, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace adit::cli
