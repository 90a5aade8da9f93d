#include "quant/calibrated_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "models/registry.h"
#include "models/weights.h"
#include "quant/outer_products.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;

// The layer that a tensor is of, "blk.12.": 12; none for the others.
std::optional<size_t> LayerOf(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  size_t layer = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
  if (error != std::errc() || end == name.data() + name.size() || *end != '.') return std::nullopt;
  return layer;
}

// Inputs of a layer's matrices, by the first that reads them.
enum class Input : uint8_t { kMixer, kAttended, kFeedForward, kGated };
constexpr int kNumInputs = 4;

std::optional<Input> InputOf(std::string_view name) {
  const auto is = [&](std::string_view end) { return name.ends_with(end); };
  if (is(".attn_q.weight") || is(".attn_k.weight") || is(".attn_v.weight") || is(".attn_qkv.weight")) {
    return Input::kMixer;
  }
  if (is(".attn_output.weight")) return Input::kAttended;
  if (is(".ffn_gate.weight") || is(".ffn_up.weight")) return Input::kFeedForward;
  if (is(".ffn_down.weight")) return Input::kGated;
  return std::nullopt;
}

// The matrices that InputKeeper watches for the four inputs.
std::array<const nn::Linear*, kNumInputs> FirstReaders(const models::LayerWeights& layer) {
  const auto& attention = std::get<nn::AttentionBlockWeights>(layer.mixer);
  if (const auto* gated = std::get_if<nn::GatedFeedForwardWeights>(&layer.feed_forward)) {
    return {&attention.q, &attention.out, &gated->gate, &gated->down};
  }
  const auto& plain = std::get<nn::PlainFeedForwardWeights>(layer.feed_forward);
  return {&attention.q, &attention.out, &plain.up, &plain.down};
}

// The tensors of one layer in their new types, over those of the model.
class RoundedLayer final : public formats::WeightSource {
 public:
  explicit RoundedLayer(const formats::GgufFile& model) : model_(model) {}

  void Add(const TensorInfo& tensor, DType dtype, std::vector<std::byte> bytes) {
    Entry& entry = entries_[std::string(tensor.name)];
    entry.bytes = std::move(bytes);
    entry.info = tensor;
    entry.info.dtype = dtype;
    entry.info.data = entry.bytes;
  }
  const TensorInfo* Find(std::string_view name) const override {
    const auto found = entries_.find(name);
    return found == entries_.end() ? model_.Find(name) : &found->second.info;
  }
  std::span<const TensorInfo> tensors() const override { return model_.tensors(); }
  const std::string& path() const override { return model_.path(); }
  // What is in memory stays there.
  void Release(std::span<const std::byte> bytes) const override {
    for (const auto& [name, entry] : entries_) {
      if (bytes.data() >= entry.bytes.data() && bytes.data() < entry.bytes.data() + entry.bytes.size()) return;
    }
    model_.Release(bytes);
  }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override {
    const auto found = entries_.find(tensor.name);
    if (found == entries_.end()) return model_.ReadRows(tensor, first_row, num_rows, out);
    WeightSource::ReadRows(found->second.info, first_row, num_rows, out);
  }

 private:
  struct Entry {
    TensorInfo info;
    std::vector<std::byte> bytes;
  };
  const formats::GgufFile& model_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// A source that somebody else owns.
std::shared_ptr<const formats::WeightSource> Borrowed(const formats::WeightSource& source) {
  return {std::shared_ptr<const formats::WeightSource>(), &source};
}

class CalibratedModelImpl final : public CalibratedModel {
 public:
  CalibratedModelImpl(std::unique_ptr<formats::GgufFile> model, std::unique_ptr<formats::GgufFile> plain,
                      std::span<const formats::TensorRetyping> retypings, models::ModelSpec spec, CalibrationText text,
                      const CalibrationOptions& options, const nn::ExecContext& context)
      : model_(std::move(model)),
        plain_(std::move(plain)),
        spec_(std::move(spec)),
        text_(std::move(text)),
        options_(options),
        context_(context),
        pass_(spec_, text_, context_) {
    const std::span<const TensorInfo> origins = model_->tensors();
    std::vector<size_t> order(origins.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return LayerOf(origins[i].name); });
    for (const size_t i : order) {
      TensorInfo info = origins[i];
      const bool rounded = IsRounded(origins[i], retypings[i]);
      if (rounded || retypings[i].dtype != info.dtype) info.data = {};
      info.dtype = retypings[i].dtype;
      tensors_.push_back(info);
      origins_.push_back(&origins[i]);
      rounded_.push_back(rounded);
    }
    for (size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
  }

  Status Prepare(const TensorInfo& tensor) override {
    const std::optional<size_t> layer = LayerOf(tensor.name);
    if (!layer || !rounded_[IndexOf(tensor)]) return Status();
    if (rounded_layer_ != nullptr && *layer == present_) return Status();
    const size_t wanted = rounded_layer_ == nullptr ? 0 : present_ + 1;
    if (*layer != wanted) return FailedPrecondition("gptq: layer {} before layer {}", *layer, wanted);
    return RoundLayer(*layer);
  }

  const TensorInfo* Find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return model_->path(); }
  void Release(std::span<const std::byte> bytes) const override { model_->Release(bytes); }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override;
  void ReleaseHeader() const override { model_->ReleaseHeader(); }
  const formats::GgufMetadata& metadata() const override { return model_->metadata(); }
  uint32_t version() const override { return model_->version(); }
  std::string Format() const override { return model_->Format(); }
  size_t size_bytes() const override { return model_->size_bytes(); }

 private:
  static bool IsRounded(const TensorInfo& tensor, const formats::TensorRetyping& retyping) {
    return LayerOf(tensor.name) && InputOf(tensor.name) && tensor.rank == 2 && HasBlockGrid(retyping.dtype) &&
           retyping.dtype != tensor.dtype;
  }
  size_t IndexOf(const TensorInfo& tensor) const { return static_cast<size_t>(&tensor - tensors_.data()); }

  Status RoundLayer(size_t layer);
  Status Told(double part);
  Result<std::vector<std::vector<float>>> Hessians(size_t layer);
  Status RoundInput(size_t layer, Input input, std::vector<float> hessian, RoundedLayer& out);
  std::vector<std::byte> Encode(const GptqFactor& factor, const TensorInfo& origin, DType dtype) const;

  // Constant after construction.
  std::unique_ptr<formats::GgufFile> model_;
  std::unique_ptr<formats::GgufFile> plain_;  // the same, retyped without calibration
  models::ModelSpec spec_;
  CalibrationText text_;
  CalibrationOptions options_;
  nn::ExecContext context_;
  std::vector<TensorInfo> tensors_;
  std::vector<const TensorInfo*> origins_;
  std::vector<bool> rounded_;
  std::unordered_map<std::string_view, size_t> index_;

  LayerPass pass_;
  std::unique_ptr<RoundedLayer> rounded_layer_;  // of number present_; null before the first
  size_t present_ = 0;
};

Status CalibratedModelImpl::Told(double part) {
  if (!options_.progress) return Status();
  const double layer = rounded_layer_ == nullptr ? 0.0 : static_cast<double>(present_ + 1);
  return options_.progress((layer + part) / static_cast<double>(spec_.layers.size()));
}

// The sums of x x^T over the text for the four inputs of a layer.
Result<std::vector<std::vector<float>>> CalibratedModelImpl::Hessians(size_t layer) {
  ADIT_ASSIGN_OR_RETURN(const models::ModelWeights weights, models::LoadLayer(spec_, layer, Borrowed(*model_), context_,
                                                                              models::ActivationTermsFor(spec_)));
  const std::array<const nn::Linear*, kNumInputs> readers = FirstReaders(weights.layers.front());
  std::vector<std::vector<float>> hessians;
  for (const nn::Linear* reader : readers) {
    const auto n = static_cast<size_t>(reader->matrix.num_cols());
    hessians.emplace_back(n * n);
  }
  InputKeeper keeper(readers, text_.window);
  int64_t window = 0;
  const auto add = [&]() -> Status {
    for (size_t i = 0; i < readers.size(); ++i) {
      const int64_t n = readers[i]->matrix.num_cols();
      ADIT_RETURN_IF_ERROR(
          AddOuterProducts(keeper.Columns(readers[i]), n, text_.window, 1.0f, context_, hessians[i].data(), n));
    }
    return Told(0.5 * static_cast<double>(++window) / static_cast<double>(text_.num_windows()));
  };
  ADIT_RETURN_IF_ERROR(pass_.Run(weights, layer, &keeper, /*advance=*/false, add));
  return hessians;
}

std::vector<std::byte> CalibratedModelImpl::Encode(const GptqFactor& factor, const TensorInfo& origin,
                                                   DType dtype) const {
  const int64_t num_rows = origin.num_rows();
  const int64_t cols = origin.row_elements();
  const size_t row_bytes = RowBytes(dtype, cols);
  std::vector<std::byte> bytes(static_cast<size_t>(num_rows) * row_bytes);
  constexpr int64_t kStep = 16;
  context_.team.Run([&](Worker& worker) {
    std::vector<float> rows(static_cast<size_t>(kStep * cols));
    std::vector<uint64_t> room(static_cast<size_t>(kStep) * origin.row_bytes() / sizeof(uint64_t) + 1);
    for (int64_t piece; (piece = worker.Claim()) * kStep < num_rows;) {
      const int64_t first = piece * kStep;
      const int64_t count = std::min(kStep, num_rows - first);
      auto* read = reinterpret_cast<std::byte*>(room.data());
      model_->ReadRows(origin, first, count, read);
      Traits(origin.dtype).decode(read, rows.data(), count * cols);
      factor.EncodeRows(dtype, rows.data(), count, bytes.data() + static_cast<size_t>(first) * row_bytes);
    }
  });
  return bytes;
}

Status CalibratedModelImpl::RoundInput(size_t layer, Input input, std::vector<float> hessian, RoundedLayer& out) {
  std::optional<GptqFactor> factor;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const TensorInfo& origin = *origins_[i];
    if (!rounded_[i] || LayerOf(origin.name) != layer || InputOf(origin.name) != input) continue;
    if (!factor) {
      const int64_t n = origin.row_elements();
      ADIT_ASSIGN_OR_RETURN(factor, GptqFactor::Make(std::move(hessian), n, options_.gptq, context_));
    }
    out.Add(origin, tensors_[i].dtype, Encode(*factor, origin, tensors_[i].dtype));
  }
  return Status();
}

Status CalibratedModelImpl::RoundLayer(size_t layer) {
  if (rounded_layer_ != nullptr) {
    ADIT_ASSIGN_OR_RETURN(
        const models::ModelWeights weights,
        models::LoadLayer(spec_, present_, Borrowed(*rounded_layer_), context_, models::ActivationTermsFor(spec_)));
    ADIT_RETURN_IF_ERROR(pass_.Run(weights, present_, nullptr, /*advance=*/true, {}));
  }
  ADIT_ASSIGN_OR_RETURN(std::vector<std::vector<float>> hessians, Hessians(layer));
  auto rounded = std::make_unique<RoundedLayer>(*model_);
  for (int i = 0; i < kNumInputs; ++i) {
    ADIT_RETURN_IF_ERROR(
        RoundInput(layer, static_cast<Input>(i), std::move(hessians[static_cast<size_t>(i)]), *rounded));
    ADIT_RETURN_IF_ERROR(Told(0.5 + 0.125 * (i + 1)));
  }
  rounded_layer_ = std::move(rounded);
  present_ = layer;
  return Status();
}

void CalibratedModelImpl::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows,
                                   std::byte* out) const {
  const size_t index = IndexOf(tensor);
  if (!rounded_[index]) return plain_->ReadRows(*plain_->Find(tensor.name), first_row, num_rows, out);
  ADIT_CHECK(rounded_layer_ != nullptr && LayerOf(tensor.name) == present_);
  rounded_layer_->ReadRows(tensor, first_row, num_rows, out);
}

// A model that is seen through another one, which does not own it.
class ModelView final : public formats::GgufFile {
 public:
  explicit ModelView(const formats::GgufFile& model) : model_(model) {}

  const TensorInfo* Find(std::string_view name) const override { return model_.Find(name); }
  std::span<const TensorInfo> tensors() const override { return model_.tensors(); }
  const std::string& path() const override { return model_.path(); }
  void Release(std::span<const std::byte> bytes) const override { model_.Release(bytes); }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override {
    model_.ReadRows(tensor, first_row, num_rows, out);
  }
  void ReleaseHeader() const override { model_.ReleaseHeader(); }
  const formats::GgufMetadata& metadata() const override { return model_.metadata(); }
  uint32_t version() const override { return model_.version(); }
  std::string Format() const override { return model_.Format(); }
  size_t size_bytes() const override { return model_.size_bytes(); }

 private:
  const formats::GgufFile& model_;
};

}  // namespace

Result<std::unique_ptr<CalibratedModel>> CalibratedModel::Create(
    std::unique_ptr<formats::GgufFile> model, std::span<const formats::TensorRetyping> tensors, CalibrationText text,
    const CalibrationOptions& options, const kernels::KernelTable& kernels, WorkerTeam& team) {
  if (text.window < 1 || text.num_windows() < 1) return InvalidArgument("gptq: no text to calibrate with");
  ADIT_ASSIGN_OR_RETURN(models::ModelSpec spec, models::SpecFromGguf(*model));
  if (!spec.output.logits || spec.NeedsWholeSequences()) {
    return Unsupported("{}: this {} model makes embeddings; gptq is for models of text", model->path(),
                       spec.architecture);
  }
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> plain,
                        formats::Retyped(std::make_unique<ModelView>(*model), tensors));
  return std::unique_ptr<CalibratedModel>(
      std::make_unique<CalibratedModelImpl>(std::move(model), std::move(plain), tensors, std::move(spec),
                                            std::move(text), options, nn::ExecContext{kernels, team}));
}

}  // namespace adit::quant
