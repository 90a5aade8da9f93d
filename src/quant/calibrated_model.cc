#include "quant/calibrated_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "formats/content_hash.h"
#include "models/registry.h"
#include "models/weights.h"
#include "quant/layer_name.h"
#include "quant/layer_rounder.h"
#include "quant/layer_store.h"
#include "quant/outer_products.h"
#include "quant/rounded_layer.h"
#include "quant/token_norms.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;

// The matrices that InputKeeper watches for the four inputs.
std::array<const nn::Linear*, kNumLayerInputs> FirstReaders(const models::LayerWeights& layer) {
  const auto& attention = std::get<nn::AttentionBlockWeights>(layer.mixer);
  if (const auto* gated = std::get_if<nn::GatedFeedForwardWeights>(&layer.feed_forward)) {
    return {&attention.q, &attention.out, &gated->gate, &gated->down};
  }
  const auto& plain = std::get<nn::PlainFeedForwardWeights>(layer.feed_forward);
  return {&attention.q, &attention.out, &plain.up, &plain.down};
}

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
    const bool scales_columns = options.rounding.awq || options.rounding.smooth;
    std::vector<size_t> order(origins.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return LayerOf(origins[i].name); });
    for (const size_t i : order) {
      TensorInfo info = origins[i];
      const std::optional<size_t> layer = LayerOf(info.name);
      const bool is_rounded = layer && IsRounded(info, retypings[i]);
      const bool is_made = is_rounded || (layer && scales_columns && LayerRounder::MayScale(info.name));
      if (is_made || retypings[i].dtype != info.dtype) info.data = {};
      info.dtype = retypings[i].dtype;
      tensors_.push_back(info);
      if (layer) layers_[*layer].push_back({.tensor = &origins[i], .dtype = info.dtype, .is_rounded = is_rounded});
    }
    for (size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
  }

  Status Prepare(const TensorInfo& tensor) override {
    const std::optional<size_t> layer = LayerOf(tensor.name);
    if (!layer || *layer >= spec_.layers.size()) return Status();
    if (*layer + 1 < num_rounded_) {
      return FailedPrecondition("layer {} is wanted after layer {}", *layer, num_rounded_ - 1);
    }
    while (num_rounded_ <= *layer) ADIT_RETURN_IF_ERROR(RoundNextLayer());
    return Status();
  }

  Result<float> LargestInput(const TensorInfo& tensor) const override {
    const std::optional<LayerInput> input = InputOf(tensor.name);
    if (!input) return Unsupported("'{}': what it is multiplied with is not known", tensor.name);
    ADIT_CHECK(rounded_layer_ != nullptr && rounded_layer_->largest_inputs.size() == kNumLayerInputs);
    return rounded_layer_->largest_inputs[static_cast<size_t>(*input)];
  }

  void RemoveKeptLayers() override {
    if (store_ != nullptr) store_->Remove();
  }
  // Layers are kept there from now on.
  Status Keep(const std::string& folder) {
    ADIT_ASSIGN_OR_RETURN(store_, LayerStore::Open(folder, Fingerprint()));
    return Status();
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
    return InputOf(tensor.name) && tensor.rank == 2 && retyping.dtype != tensor.dtype &&
           (HasBlockGrid(retyping.dtype) || retyping.dtype == DType::kFp8);
  }

  uint64_t Fingerprint() const;
  Status RoundNextLayer();
  Status Told(double part) const;
  Result<LayerInputs> GatherInputs(size_t layer);

  // Constant after construction.
  std::unique_ptr<formats::GgufFile> model_;
  std::unique_ptr<formats::GgufFile> plain_;  // the same, retyped without calibration
  models::ModelSpec spec_;
  CalibrationText text_;
  CalibrationOptions options_;
  nn::ExecContext context_;
  std::vector<TensorInfo> tensors_;
  std::map<size_t, std::vector<LayerTensor>> layers_;
  std::unordered_map<std::string_view, size_t> index_;

  LayerPass pass_;
  size_t num_rounded_ = 0;                       // layers
  std::unique_ptr<RoundedLayer> rounded_layer_;  // the last of them
  std::unique_ptr<LayerStore> store_;            // null: none is kept
};

// Raised whenever the same model, text and options give other layers than before: those that an older build has kept
// are not gone on from.
constexpr int64_t kRoundingVersion = 2;

// Of all that the rounded layers depend on.
uint64_t CalibratedModelImpl::Fingerprint() const {
  Fnv1a hash;
  hash.AddNumber(kRoundingVersion);
  hash.AddNumber(static_cast<int64_t>(model_->size_bytes()));
  hash.AddNumber(static_cast<int64_t>(formats::ContentHash(*model_)));
  for (const TensorInfo& tensor : tensors_) hash.AddNumber(static_cast<int64_t>(tensor.dtype));
  hash.Add(text_.tokens.data(), text_.tokens.size() * sizeof(text_.tokens[0]));
  hash.AddNumber(text_.window);
  const RoundingOptions& rounding = options_.rounding;
  for (const bool flag :
       {rounding.gptq, rounding.awq, rounding.smooth, rounding.keeps_largest, rounding.gptq_options.act_order}) {
    hash.AddNumber(flag ? 1 : 0);
  }
  hash.Add(&rounding.gptq_options.damping, sizeof(rounding.gptq_options.damping));
  if (rounding.groups) {
    const GroupScales& groups = *rounding.groups;
    for (const int64_t number : {int64_t{groups.bits}, groups.group_size, int64_t{groups.symmetric},
                                 int64_t{groups.least_zero}, int64_t{groups.half_scales}}) {
      hash.AddNumber(number);
    }
  }
  hash.AddNumber(rounding.fp8.rows);
  hash.AddNumber(rounding.fp8.cols);
  return hash.value();
}

Status CalibratedModelImpl::Told(double part) const {
  if (!options_.progress) return Status();
  return options_.progress((static_cast<double>(num_rounded_) + part) / static_cast<double>(spec_.layers.size()));
}

// What the text says of the four inputs of a layer.
Result<LayerInputs> CalibratedModelImpl::GatherInputs(size_t layer) {
  ADIT_ASSIGN_OR_RETURN(const models::ModelWeights weights, models::LoadLayer(spec_, layer, Borrowed(*model_), context_,
                                                                              models::ActivationTermsFor(spec_)));
  const std::array<const nn::Linear*, kNumLayerInputs> readers = FirstReaders(weights.layers.front());
  const bool wants_hessians = options_.rounding.gptq || options_.rounding.awq;
  const bool wants_samples = options_.rounding.smooth || options_.rounding.keeps_largest;
  LayerInputs inputs;
  for (size_t i = 0; i < readers.size() && wants_hessians; ++i) {
    const auto n = static_cast<size_t>(readers[i]->matrix.num_cols());
    inputs.hessians[i].resize(n * n);
  }
  InputKeeper keeper(readers, text_.window);
  int64_t window = 0;
  const auto add = [&]() -> Status {
    for (size_t i = 0; i < readers.size(); ++i) {
      const int64_t n = readers[i]->matrix.num_cols();
      const std::vector<float>& columns = keeper.Columns(readers[i]);
      if (wants_samples) inputs.samples[i].Add(columns, n, text_.window, window, text_.num_windows());
      if (!wants_hessians) continue;
      std::vector<float> held = columns;
      HoldLargeTokensDown(held, n, text_.window);
      ADIT_RETURN_IF_ERROR(AddOuterProducts(held, n, text_.window, 1.0f, context_, inputs.hessians[i].data(), n));
    }
    return Told(0.5 * static_cast<double>(++window) / static_cast<double>(text_.num_windows()));
  };
  ADIT_RETURN_IF_ERROR(pass_.Run(weights, layer, &keeper, /*advance=*/false, add));
  return inputs;
}

Status CalibratedModelImpl::RoundNextLayer() {
  const size_t layer = num_rounded_;
  if (layer > 0) {
    ADIT_ASSIGN_OR_RETURN(
        const models::ModelWeights weights,
        models::LoadLayer(spec_, layer - 1, Borrowed(*rounded_layer_), context_, models::ActivationTermsFor(spec_)));
    ADIT_RETURN_IF_ERROR(pass_.Run(weights, layer - 1, nullptr, /*advance=*/true, {}));
  }
  if (store_ != nullptr && store_->Has(layer)) {
    ADIT_ASSIGN_OR_RETURN(rounded_layer_, store_->Load(layer, *model_));
    ++num_rounded_;
    return Told(0.0);
  }
  ADIT_ASSIGN_OR_RETURN(LayerInputs inputs, GatherInputs(layer));
  LayerRounder rounder(*model_, spec_.layers[layer], options_.rounding, context_);
  ADIT_ASSIGN_OR_RETURN(rounded_layer_, rounder.Round(layers_[layer], std::move(inputs), [this](int num_done) {
    return Told(0.5 + 0.5 * num_done / kNumLayerInputs);
  }));
  if (store_ != nullptr) ADIT_RETURN_IF_ERROR(store_->Save(layer, *rounded_layer_));
  ++num_rounded_;
  return Status();
}

void CalibratedModelImpl::ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows,
                                   std::byte* out) const {
  if (rounded_layer_ != nullptr && rounded_layer_->Has(tensor.name)) {
    return rounded_layer_->ReadRows(tensor, first_row, num_rows, out);
  }
  plain_->ReadRows(*plain_->Find(tensor.name), first_row, num_rows, out);
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
  if (text.window < 1 || text.num_windows() < 1) return InvalidArgument("no text to calibrate with");
  ADIT_ASSIGN_OR_RETURN(models::ModelSpec spec, models::SpecFromGguf(*model));
  if (!spec.output.logits || spec.NeedsWholeSequences()) {
    return Unsupported("{}: this {} model makes embeddings; calibration is for models of text", model->path(),
                       spec.architecture);
  }
  // Fp8 is made by GPTQ alone.
  std::vector<formats::TensorRetyping> without(tensors.begin(), tensors.end());
  for (size_t i = 0; i < without.size(); ++i) {
    if (without[i].dtype == DType::kFp8) without[i].dtype = model->tensors()[i].dtype;
  }
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> plain,
                        formats::Retyped(std::make_unique<ModelView>(*model), without));
  auto made = std::make_unique<CalibratedModelImpl>(std::move(model), std::move(plain), tensors, std::move(spec),
                                                    std::move(text), options, nn::ExecContext{kernels, team});
  if (!options.resume_folder.empty()) ADIT_RETURN_IF_ERROR(made->Keep(options.resume_folder));
  return std::unique_ptr<CalibratedModel>(std::move(made));
}

}  // namespace adit::quant
