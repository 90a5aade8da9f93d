#include "quant/layer_rounder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include "quant/awq.h"
#include "quant/column_sources.h"
#include "quant/encode_rows.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;

// Rows of each matrix that the search for factors of columns looks at.
constexpr int64_t kSampledRows = 64;

// What gives an input's columns: these are divided by the factors.
struct Source {
  std::string_view norm;  // of a vector and its bias; or
  std::string_view rows;  // of a matrix, which gives a row for each column
};

Source SourceOf(LayerInput input) {
  switch (input) {
    case LayerInput::kMixer:
      return {.norm = ".attn_norm", .rows = {}};
    case LayerInput::kFeedForward:
      return {.norm = ".ffn_norm", .rows = {}};
    case LayerInput::kAttended:
      return {.norm = {}, .rows = ".attn_v"};
    case LayerInput::kGated:
      return {.norm = {}, .rows = ".ffn_up"};
  }
  return {};
}

std::vector<std::byte> Bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::optional<LayerInput> InputOf(std::string_view name) {
  const auto is = [&](std::string_view end) { return name.ends_with(end); };
  if (is(".attn_q.weight") || is(".attn_k.weight") || is(".attn_v.weight") || is(".attn_qkv.weight")) {
    return LayerInput::kMixer;
  }
  if (is(".attn_output.weight")) return LayerInput::kAttended;
  if (is(".ffn_gate.weight") || is(".ffn_up.weight")) return LayerInput::kFeedForward;
  if (is(".ffn_down.weight")) return LayerInput::kGated;
  return std::nullopt;
}

bool LayerRounder::MayScale(std::string_view name) {
  constexpr std::string_view kNames[] = {".attn_norm.weight", ".attn_norm.bias", ".ffn_norm.weight",
                                         ".ffn_norm.bias",    ".attn_v.bias",    ".ffn_up.bias"};
  return std::ranges::any_of(kNames, [&](std::string_view end) { return name.ends_with(end); });
}

const LayerTensor* LayerRounder::FindEnd(std::string_view end) const {
  const auto found =
      std::ranges::find_if(tensors_, [&](const LayerTensor& tensor) { return tensor.tensor->name.ends_with(end); });
  return found == tensors_.end() ? nullptr : &*found;
}

// Whether what gives the input can be divided, and nothing else reads it.
bool LayerRounder::CanScale(LayerInput input) const {
  switch (input) {
    case LayerInput::kMixer:
    case LayerInput::kFeedForward:
      return spec_.feed_forward_input != models::FeedForwardInput::kAsMixer &&
             FindEnd(std::string(SourceOf(input).norm) + ".weight") != nullptr;
    case LayerInput::kAttended:
      return FindEnd(".attn_v.weight") != nullptr;
    case LayerInput::kGated:
      // The gate is what goes through the activation; up multiplies its result.
      return std::holds_alternative<nn::GatedFeedForwardConfig>(spec_.feed_forward) &&
             FindEnd(".ffn_gate.weight") != nullptr && FindEnd(".ffn_up.weight") != nullptr;
  }
  return false;
}

std::vector<int64_t> LayerRounder::SourcesOf(LayerInput input, int64_t num_columns) const {
  if (input != LayerInput::kAttended) return {};
  const auto& attention = std::get<nn::AttentionBlockConfig>(spec_.mixer).shape;
  return SourcesOfAttended(num_columns, attention.v_dim, attention.num_heads / attention.num_kv_heads);
}

float LayerRounder::FactorOfSource(LayerInput input, int64_t index) const {
  if (input == LayerInput::kAttended) {
    const auto& attention = std::get<nn::AttentionBlockConfig>(spec_.mixer).shape;
    index += index / attention.v_dim * (attention.num_heads / attention.num_kv_heads - 1) * attention.v_dim;
  }
  return scales_[static_cast<size_t>(input)][static_cast<size_t>(index)];
}

// Rows spread over the matrix.
std::vector<float> LayerRounder::SampleRows(const TensorInfo& tensor) const {
  const int64_t n = tensor.row_elements();
  const int64_t count = std::min(kSampledRows, tensor.num_rows());
  std::vector<float> rows(static_cast<size_t>(count * n));
  std::vector<uint64_t> room(tensor.row_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  for (int64_t i = 0; i < count; ++i) {
    model_.ReadRows(tensor, i * tensor.num_rows() / count, 1, bytes);
    Traits(tensor.dtype).decode(bytes, rows.data() + i * n, n);
  }
  return rows;
}

// The largest magnitude of each column.
std::vector<float> LayerRounder::LargestOfColumns(const TensorInfo& tensor) const {
  const int64_t n = tensor.row_elements();
  std::vector<float> largest(static_cast<size_t>(n));
  std::vector<float> row(static_cast<size_t>(n));
  std::vector<uint64_t> room(tensor.row_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  for (int64_t i = 0; i < tensor.num_rows(); ++i) {
    model_.ReadRows(tensor, i, 1, bytes);
    Traits(tensor.dtype).decode(bytes, row.data(), n);
    for (size_t j = 0; j < row.size(); ++j) largest[j] = std::max(largest[j], std::abs(row[j]));
  }
  return largest;
}

// Those of gate and up narrow only where GPTQ makes up for it: the error over all tokens falls, but some layers' few
// large weights give the model what the rest of it leans on (docs/quantize.md).
const GroupScales* LayerRounder::GroupsOf(const LayerTensor& tensor) const {
  const bool narrows = options_.gptq || InputOf(tensor.tensor->name) != LayerInput::kFeedForward;
  const std::optional<GroupScales>& groups = narrows ? options_.groups : spanning_groups_;
  return groups && groups->dtype() == tensor.dtype ? &*groups : nullptr;
}

Result<std::vector<float>> LayerRounder::SearchScales(std::span<const LayerTensor* const> readers, LayerInput input,
                                                      const LayerInputs& inputs) const {
  const auto index = static_cast<size_t>(input);
  const int64_t n = readers.front()->tensor->row_elements();
  const std::vector<int64_t> sources = SourcesOf(input, n);
  if (!options_.smooth) {
    std::vector<AwqRows> matrices;
    for (const LayerTensor* reader : readers) {
      matrices.push_back({.rows = SampleRows(*reader->tensor), .dtype = reader->dtype, .groups = GroupsOf(*reader)});
    }
    return SearchAwqScales(matrices, inputs.hessians[index], n, sources, context_);
  }
  std::vector<float> rows;
  std::vector<float> largest(static_cast<size_t>(n));
  for (const LayerTensor* reader : readers) {
    const std::vector<float> sampled = SampleRows(*reader->tensor);
    rows.insert(rows.end(), sampled.begin(), sampled.end());
    const std::vector<float> of_matrix = LargestOfColumns(*reader->tensor);
    for (size_t j = 0; j < largest.size(); ++j) largest[j] = std::max(largest[j], of_matrix[j]);
  }
  return SearchSmoothScales(inputs.samples[index], rows, largest, sources, context_);
}

Status LayerRounder::SearchScales(const LayerInputs& inputs) {
  for (int i = 0; i < kNumLayerInputs; ++i) {
    const auto input = static_cast<LayerInput>(i);
    if (!CanScale(input)) continue;
    std::vector<const LayerTensor*> readers;
    bool all_rounded = true;
    for (const LayerTensor& tensor : tensors_) {
      if (InputOf(tensor.tensor->name) != input) continue;
      all_rounded &= tensor.is_rounded;
      readers.push_back(&tensor);
    }
    // A matrix that stays as it is could not be multiplied by the factors.
    if (readers.empty() || !all_rounded) continue;
    ADIT_ASSIGN_OR_RETURN(scales_[static_cast<size_t>(i)], SearchScales(readers, input, inputs));
  }
  // The rows of a source are divided while it is rounded; one that is not rounded stays.
  for (const LayerInput input : {LayerInput::kAttended, LayerInput::kGated}) {
    const LayerTensor* source = FindEnd(std::string(SourceOf(input).rows) + ".weight");
    if (source == nullptr || !source->is_rounded) scales_[static_cast<size_t>(input)].clear();
  }
  return Status();
}

// Norms and biases, divided.
void LayerRounder::DivideSources(RoundedLayer& out) const {
  for (int i = 0; i < kNumLayerInputs; ++i) {
    const auto input = static_cast<LayerInput>(i);
    if (scales_[static_cast<size_t>(i)].empty()) continue;
    const Source source = SourceOf(input);
    const std::string stem(source.norm.empty() ? source.rows : source.norm);
    for (const char* kind : {".weight", ".bias"}) {
      const LayerTensor* tensor = FindEnd(stem + kind);
      if (tensor == nullptr || tensor->is_rounded) continue;
      std::vector<float> values(static_cast<size_t>(tensor->tensor->num_elements()));
      formats::ReadFloats(model_, *tensor->tensor, values.data());
      for (size_t j = 0; j < values.size(); ++j) values[j] /= FactorOfSource(input, static_cast<int64_t>(j));
      out.Add(*tensor->tensor, DType::kF32, Bytes(values));
    }
  }
}

// Of what comes in once its source is divided.
std::vector<float> LayerRounder::LargestInputs(const LayerInputs& inputs) const {
  std::vector<float> out(kNumLayerInputs);
  for (size_t i = 0; i < out.size(); ++i) {
    const std::vector<float>& largest = inputs.samples[i].largest;
    for (size_t j = 0; j < largest.size(); ++j) {
      out[i] = std::max(out[i], scales_[i].empty() ? largest[j] : largest[j] / scales_[i][j]);
    }
  }
  return out;
}

void LayerRounder::ReadScaled(const TensorInfo& tensor, int64_t first, int64_t count, float* out) const {
  const int64_t n = tensor.row_elements();
  std::vector<uint64_t> room(static_cast<size_t>(count) * tensor.row_bytes() / sizeof(uint64_t) + 1);
  auto* bytes = reinterpret_cast<std::byte*>(room.data());
  model_.ReadRows(tensor, first, count, bytes);
  Traits(tensor.dtype).decode(bytes, out, count * n);
  const std::vector<float>& columns = scales_[static_cast<size_t>(*InputOf(tensor.name))];
  // The input that the tensor's rows give, where that is scaled.
  std::optional<LayerInput> given;
  for (const LayerInput input : {LayerInput::kAttended, LayerInput::kGated}) {
    if (!scales_[static_cast<size_t>(input)].empty() &&
        tensor.name.ends_with(std::string(SourceOf(input).rows) + ".weight")) {
      given = input;
    }
  }
  for (int64_t row = 0; row < count; ++row) {
    float* values = out + row * n;
    if (!columns.empty()) {
      for (int64_t i = 0; i < n; ++i) values[i] *= columns[static_cast<size_t>(i)];
    }
    if (!given) continue;
    const float divisor = FactorOfSource(*given, first + row);
    for (int64_t i = 0; i < n; ++i) values[i] /= divisor;
  }
}

Fp8Scales LayerRounder::Fp8ScalesOf(const TensorInfo& tensor) const {
  const int64_t n = tensor.row_elements();
  Fp8Scales scales(options_.fp8, tensor.num_rows(), n);
  context_.team.Run([&](Worker& worker) {
    std::vector<float> weights(static_cast<size_t>(n));
    for (int64_t row; (row = worker.Claim()) < tensor.num_rows();) {
      ReadScaled(tensor, row, 1, weights.data());
      scales.Add(row, weights.data());
    }
  });
  scales.Finish();
  return scales;
}

std::vector<std::byte> LayerRounder::Encode(const LayerTensor& tensor, const InputStatistics& statistics) const {
  const TensorInfo& origin = *tensor.tensor;
  const GroupScales* groups = GroupsOf(tensor);
  const int64_t num_rows = origin.num_rows();
  const int64_t n = origin.row_elements();
  const size_t row_bytes = RowBytes(tensor.dtype, n);
  const float* importance = statistics.importance.empty() ? nullptr : statistics.importance.data();
  std::vector<std::byte> bytes(static_cast<size_t>(num_rows) * row_bytes);
  std::optional<Fp8Scales> fp8_scales;
  if (tensor.dtype == DType::kFp8) fp8_scales = Fp8ScalesOf(origin);
  const bool fits = groups != nullptr && statistics.fitter;
  const int64_t step = fits ? ScaleFitter::kTogether : 16;
  context_.team.Run([&](Worker& worker) {
    std::vector<float> rows(static_cast<size_t>(step * n));
    for (int64_t piece; (piece = worker.Claim()) * step < num_rows;) {
      const int64_t first = piece * step;
      const int64_t count = std::min(step, num_rows - first);
      ReadScaled(origin, first, count, rows.data());
      std::byte* out = bytes.data() + static_cast<size_t>(first) * row_bytes;
      if (fp8_scales) {
        statistics.factor->EncodeFp8Rows(*fp8_scales, rows.data(), first, count, out);
      } else if (statistics.factor) {
        statistics.factor->EncodeRows(tensor.dtype, groups, rows.data(), count, out);
      } else {
        EncodeRowsWith(tensor.dtype, groups, rows.data(), importance, out, count, n);
      }
      if (fits) statistics.fitter->Fit(rows.data(), count, out);
    }
  });
  return bytes;
}

Result<LayerRounder::InputStatistics> LayerRounder::StatisticsOf(std::vector<float> hessian, int64_t n,
                                                                 bool in_groups) const {
  InputStatistics statistics;
  for (int64_t i = 0; i < n && !hessian.empty(); ++i) {
    statistics.importance.push_back(hessian[static_cast<size_t>(i * n + i)]);
  }
  if (!hessian.empty() && in_groups) {
    ADIT_ASSIGN_OR_RETURN(statistics.fitter, ScaleFitter::Make(hessian, n, *options_.groups, context_));
  }
  if (options_.gptq) {
    ADIT_ASSIGN_OR_RETURN(statistics.factor, GptqFactor::Make(std::move(hessian), n, options_.gptq_options, context_));
  }
  return statistics;
}

Status LayerRounder::RoundInput(LayerInput input, std::vector<float> hessian, RoundedLayer& out) const {
  const auto is_mine = [&](const LayerTensor& tensor) {
    return tensor.is_rounded && InputOf(tensor.tensor->name) == input;
  };
  const auto first = std::ranges::find_if(tensors_, is_mine);
  if (first == tensors_.end()) return Status();
  const int64_t n = first->tensor->row_elements();
  const std::vector<float>& scales = scales_[static_cast<size_t>(input)];
  if (!scales.empty() && !hessian.empty()) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        hessian[static_cast<size_t>(i * n + j)] /= scales[static_cast<size_t>(i)] * scales[static_cast<size_t>(j)];
      }
    }
  }
  const bool in_groups = std::ranges::any_of(
      tensors_, [&](const LayerTensor& tensor) { return is_mine(tensor) && GroupsOf(tensor) != nullptr; });
  ADIT_ASSIGN_OR_RETURN(const InputStatistics statistics, StatisticsOf(std::move(hessian), n, in_groups));
  for (const LayerTensor& tensor : tensors_) {
    if (is_mine(tensor)) out.Add(*tensor.tensor, tensor.dtype, Encode(tensor, statistics));
  }
  return Status();
}

Result<std::unique_ptr<RoundedLayer>> LayerRounder::Round(std::span<const LayerTensor> tensors, LayerInputs inputs,
                                                          const std::function<Status(int num_done)>& told) {
  tensors_ = tensors;
  scales_ = {};
  auto out = std::make_unique<RoundedLayer>(model_);
  if (options_.awq || options_.smooth) {
    ADIT_RETURN_IF_ERROR(SearchScales(inputs));
    DivideSources(*out);
  }
  if (options_.keeps_largest) out->largest_inputs = LargestInputs(inputs);
  for (int i = 0; i < kNumLayerInputs; ++i) {
    ADIT_RETURN_IF_ERROR(
        RoundInput(static_cast<LayerInput>(i), std::move(inputs.hessians[static_cast<size_t>(i)]), *out));
    ADIT_RETURN_IF_ERROR(told(i + 1));
  }
  return out;
}

}  // namespace adit::quant
