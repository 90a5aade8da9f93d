#include "models/hf_tensors.h"

#include <algorithm>

namespace adit::models {
namespace {

constexpr std::string_view kLayer = "{}";
// What checkpoints of the model without its head, such as those of embedders, leave out before all names.
constexpr std::string_view kInner = "model.";

// Whether `name` is `pattern`, with up to four digits for its "{}"; they are then in `layer`.
bool Matches(std::string_view pattern, std::string_view name, std::string_view& layer) {
  const size_t place = pattern.find(kLayer);
  if (place == std::string_view::npos) return pattern == name;
  const std::string_view before = pattern.substr(0, place);
  const std::string_view after = pattern.substr(place + kLayer.size());
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return false;
  layer = name.substr(before.size(), name.size() - before.size() - after.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return layer.size() <= 4 && std::all_of(layer.begin(), layer.end(), is_digit);
}

}  // namespace

int64_t HfSourceRow(const HfTensorRule& rule, int64_t row, int64_t num_rows) {
  const int64_t head_rows = num_rows / rule.num_heads;
  if (rule.transform == HfTransform::kInterleaveHeads) {
    const int64_t in_head = row % head_rows;
    return row - in_head + (in_head % 2) * (head_rows / 2) + in_head / 2;
  }
  // kGroupQkv: head_rows are those of a head's query, key and value together.
  const int64_t head_dim = head_rows / 3;
  const int64_t part = row / (rule.num_heads * head_dim);
  const int64_t head = row / head_dim % rule.num_heads;
  return head * head_rows + part * head_dim + row % head_dim;
}

std::vector<int64_t> HfRowOrder(const HfTensorRule& rule, int64_t num_rows) {
  if (rule.transform != HfTransform::kInterleaveHeads && rule.transform != HfTransform::kGroupQkv) return {};
  std::vector<int64_t> order(static_cast<size_t>(num_rows));
  for (int64_t row = 0; row < num_rows; ++row) order[static_cast<size_t>(HfSourceRow(rule, row, num_rows))] = row;
  return order;
}

HfTensorRules::Match HfTensorRules::Find(std::string_view hf_name) const {
  if (hf_name.starts_with(optional_prefix_)) hf_name.remove_prefix(optional_prefix_.size());
  for (const HfTensorRule& rule : rules_) {
    std::string_view layer;
    const bool is_inside = rule.hf.starts_with(kInner);
    if (!Matches(rule.hf, hf_name, layer) && !(is_inside && Matches(rule.hf.substr(kInner.size()), hf_name, layer))) {
      continue;
    }
    std::string gguf_name(rule.gguf);
    if (const size_t place = gguf_name.find(kLayer); place != std::string::npos) {
      gguf_name.replace(place, kLayer.size(), layer);
    }
    return {&rule, std::move(gguf_name)};
  }
  return {};
}

HfTensorRules::Origin HfTensorRules::FindOrigin(std::string_view gguf_name) const {
  for (const HfTensorRule& rule : rules_) {
    std::string_view layer;
    if (rule.transform == HfTransform::kIgnore || !Matches(rule.gguf, gguf_name, layer)) continue;
    std::string hf_name(rule.hf);
    if (const size_t place = hf_name.find(kLayer); place != std::string::npos) {
      hf_name.replace(place, kLayer.size(), layer);
    }
    // What gives the logits stands outside of the part that the prefix names.
    if (rule.gguf.starts_with("output.")) return {&rule, std::move(hf_name)};
    return {&rule, std::string(optional_prefix_) + hf_name};
  }
  return {};
}

}  // namespace adit::models
