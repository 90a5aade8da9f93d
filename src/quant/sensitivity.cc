#include "quant/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "models/registry.h"
#include "models/weights.h"
#include "quant/activation_squares.h"
#include "quant/layer_name.h"
#include "quant/rounded_layer.h"
#include "quant/rounding_error.h"
#include "quant/window_pass.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;

constexpr size_t kMostBaseBytes = size_t{256} << 20;

std::shared_ptr<const formats::WeightSource> NotOwned(const formats::WeightSource& source) {
  return {std::shared_ptr<const formats::WeightSource>(), &source};
}

// The weights of layers from `first` on and of both ends; `all` keeps the memory.
models::ModelWeights WeightsFrom(const models::ModelWeights& all, size_t first) {
  models::ModelWeights part;
  part.embedding = all.embedding;
  part.positions = all.positions;
  part.token_types = all.token_types;
  part.embedding_norm = all.embedding_norm;
  part.layers.assign(all.layers.begin() + static_cast<std::ptrdiff_t>(first), all.layers.end());
  part.final_norm = all.final_norm;
  part.output = all.output;
  part.two_terms = all.two_terms;
  part.least_outlier = all.least_outlier;
  return part;
}

double LogOfSum(std::span<const float> row) {
  const float largest = *std::ranges::max_element(row);
  double sum = 0.0;
  for (const float x : row) sum += std::exp(static_cast<double>(x) - static_cast<double>(largest));
  return static_cast<double>(largest) + std::log(sum);
}

// Of the distribution of `logits` from that of `base`, both [vocab_size]; `base` are log-probabilities.
double RowDivergence(std::span<const float> base, std::span<const float> logits) {
  const double log_sum = LogOfSum(logits);
  double divergence = 0.0;
  for (size_t i = 0; i < base.size(); ++i) {
    const auto p = static_cast<double>(base[i]);
    divergence += std::exp(p) * (p - (static_cast<double>(logits[i]) - log_sum));
  }
  return divergence;
}

// Passes on what it sees to an observer that is made after the pass which it looks at.
class LateObserver final : public nn::LinearObserver {
 public:
  void Set(nn::LinearObserver& to) { to_ = &to; }
  void Observe(const Worker& worker, std::span<const nn::LinearJob> jobs, const kernels::ActivationView& rows,
               int64_t num_tokens) override {
    to_->Observe(worker, jobs, rows, num_tokens);
  }

 private:
  nn::LinearObserver* to_ = nullptr;
};

// A model of which no layer but the first is there.
class EndsOf final : public formats::WeightSource {
 public:
  explicit EndsOf(const formats::WeightSource& model) : model_(model) {
    for (const TensorInfo& tensor : model.tensors()) {
      if (LayerOf(tensor.name).value_or(0) == 0) tensors_.push_back(tensor);
    }
  }
  const TensorInfo* Find(std::string_view name) const override {
    return LayerOf(name).value_or(0) == 0 ? model_.Find(name) : nullptr;
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return model_.path(); }
  void Release(std::span<const std::byte> bytes) const override { model_.Release(bytes); }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override {
    model_.ReadRows(tensor, first_row, num_rows, out);
  }

 private:
  const formats::WeightSource& model_;
  std::vector<TensorInfo> tensors_;
};

class Prober {
 public:
  Prober(const formats::GgufFile& model, const models::ModelSpec& spec, std::span<const formats::TensorRetyping> probes,
         const CalibrationText& text, const SensitivityOptions& options, const nn::ExecContext& context)
      : model_(model), spec_(spec), probes_(probes), text_(text), options_(options), context_(context) {}

  Result<Sensitivity> Measure();

 private:
  void ChooseRows();
  Status RunBase();
  Status ProbeEnds();
  Status ProbeLayer(size_t layer);
  // Mean divergence from the base of what `pass`, from `layer` on, gives.
  double MeanDivergence(WindowPass& pass, size_t layer);
  // Mean over rows of the squared change of what a layer passes on, relative to its square.
  double MeanChange(WindowPass& pass, size_t layer, const std::vector<float>& out);
  // The layers from `layer` on to the logits; and that one alone.
  Result<std::unique_ptr<WindowPass>> PassFrom(size_t layer, const nn::ExecContext& context) const;
  Result<std::unique_ptr<WindowPass>> PassOfOne(size_t layer) const;
  static WindowInput InputOfLayer(size_t layer) { return layer == 0 ? WindowInput::kTokens : WindowInput::kHidden; }
  std::vector<size_t> ProbedOf(size_t layer) const;
  // Which of the two ends a tensor is of is told by its name.
  std::vector<size_t> ProbedEnds() const;
  Status Told(double share) const { return options_.progress ? options_.progress(share) : Status(); }

  std::span<const int32_t> Window(int64_t window) const {
    return std::span(text_.tokens)
        .subspan(static_cast<size_t>(window * text_.window), static_cast<size_t>(text_.window));
  }
  const float* HiddenOf(size_t layer, int64_t window) const {
    return layer == 0 ? nullptr : hidden_.data() + static_cast<size_t>(window) * window_elements();
  }
  size_t window_elements() const { return static_cast<size_t>(text_.window * spec_.hidden_dim); }
  size_t vocab_size() const { return static_cast<size_t>(spec_.vocab_size); }

  const formats::GgufFile& model_;
  const models::ModelSpec& spec_;
  std::span<const formats::TensorRetyping> probes_;
  const CalibrationText& text_;
  const SensitivityOptions& options_;
  nn::ExecContext context_;

  models::ModelWeights weights_;
  std::vector<int64_t> rows_;  // of each window, whose predictions are compared
  std::vector<float> base_;    // their log-probabilities, [num_windows, rows, vocab_size]
  std::vector<float> logits_;  // [rows, vocab_size]
  std::vector<float> hidden_;  // [num_windows, window, hidden_dim]: what comes into the present layer; not of the first
  std::vector<float> changed_;  // [window, hidden_dim]
  Sensitivity found_;
};

// From the middle of each window on, so that every row has much before it, and as many as memory allows.
void Prober::ChooseRows() {
  const int64_t first = text_.window / 2;
  const int64_t wanted = text_.window - first;
  const auto fits = static_cast<int64_t>(kMostBaseBytes / (vocab_size() * sizeof(float))) / text_.num_windows();
  const int64_t count = std::clamp<int64_t>(fits, 1, wanted);
  for (int64_t i = 0; i < count; ++i) rows_.push_back(first + i * wanted / count);
}

Status Prober::RunBase() {
  LateObserver observer;
  nn::ExecContext context = context_;
  context.observer = &observer;
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WindowPass> pass, PassFrom(0, context));
  ActivationSquares squares(pass->weights());
  observer.Set(squares);
  const size_t window_floats = rows_.size() * vocab_size();
  logits_.resize(window_floats);
  base_.resize(window_floats * static_cast<size_t>(text_.num_windows()));
  for (int64_t window = 0; window < text_.num_windows(); ++window) {
    float* base = base_.data() + static_cast<size_t>(window) * window_floats;
    pass->RunLogits(Window(window), nullptr, rows_, base);
    context_.team.Run([&](Worker& worker) {
      for (int64_t row; (row = worker.Claim()) < static_cast<int64_t>(rows_.size());) {
        const std::span<float> values(base + static_cast<size_t>(row) * vocab_size(), vocab_size());
        const double log_sum = LogOfSum(values);
        for (float& x : values) x = static_cast<float>(static_cast<double>(x) - log_sum);
      }
    });
  }
  ADIT_ASSIGN_OR_RETURN(found_.inputs, squares.Sums());
  return Status();
}

double Prober::MeanDivergence(WindowPass& pass, size_t layer) {
  double sum = 0.0;
  std::vector<double> rows(rows_.size());
  for (int64_t window = 0; window < text_.num_windows(); ++window) {
    const float* base = base_.data() + static_cast<size_t>(window) * rows_.size() * vocab_size();
    pass.RunLogits(Window(window), HiddenOf(layer, window), rows_, logits_.data());
    context_.team.Run([&](Worker& worker) {
      for (int64_t row; (row = worker.Claim()) < static_cast<int64_t>(rows_.size());) {
        const size_t at = static_cast<size_t>(row) * vocab_size();
        rows[static_cast<size_t>(row)] =
            RowDivergence({base + at, vocab_size()}, std::span(logits_).subspan(at, vocab_size()));
      }
    });
    for (const double row : rows) sum += row;
  }
  return sum / static_cast<double>(rows_.size() * static_cast<size_t>(text_.num_windows()));
}

double Prober::MeanChange(WindowPass& pass, size_t layer, const std::vector<float>& out) {
  double sum = 0.0;
  changed_.resize(window_elements());
  const auto dim = static_cast<size_t>(spec_.hidden_dim);
  for (int64_t window = 0; window < text_.num_windows(); ++window) {
    pass.RunHidden(Window(window), HiddenOf(layer, window), changed_.data());
    const float* before = out.data() + static_cast<size_t>(window) * window_elements();
    for (size_t row = 0; row < window_elements(); row += dim) {
      double change = 0.0;
      double size = 0.0;
      for (size_t i = row; i < row + dim; ++i) {
        const double off = static_cast<double>(changed_[i]) - static_cast<double>(before[i]);
        change += off * off;
        size += static_cast<double>(before[i]) * static_cast<double>(before[i]);
      }
      if (size > 0.0) sum += change / size;
    }
  }
  return sum / static_cast<double>(text_.tokens.size());
}

std::vector<size_t> Prober::ProbedOf(size_t layer) const {
  std::vector<size_t> probed;
  for (size_t i = 0; i < probes_.size(); ++i) {
    const TensorInfo& tensor = model_.tensors()[i];
    if (LayerOf(tensor.name) == layer && probes_[i].dtype != tensor.dtype && formats::IsWeightMatrix(tensor)) {
      probed.push_back(i);
    }
  }
  return probed;
}

std::vector<size_t> Prober::ProbedEnds() const {
  std::vector<size_t> probed;
  for (size_t i = 0; i < probes_.size(); ++i) {
    const TensorInfo& tensor = model_.tensors()[i];
    const bool is_end = tensor.name == "token_embd.weight" || tensor.name == "output.weight";
    if (is_end && probes_[i].dtype != tensor.dtype) probed.push_back(i);
  }
  return probed;
}

Status Prober::ProbeEnds() {
  for (const size_t i : ProbedEnds()) {
    const TensorInfo& tensor = model_.tensors()[i];
    RoundedLayer rounded(model_);
    rounded.Add(tensor, DType::kF32, RoundedFloats(model_, tensor, probes_[i], context_.team));
    const EndsOf source(rounded);
    models::ModelSpec one_layer = spec_;
    one_layer.layers.resize(1);
    ADIT_ASSIGN_OR_RETURN(const models::ModelWeights ends, models::LoadWeights(one_layer, NotOwned(source), context_,
                                                                               models::ActivationTerms::kTwo, {}));
    models::ModelWeights part = WeightsFrom(weights_, 0);
    part.embedding = ends.embedding;
    part.output = ends.output;
    ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WindowPass> pass,
                          WindowPass::Create(spec_, std::move(part), WindowInput::kTokens, text_.window, context_));
    found_.tensor_kld[i] = MeanDivergence(*pass, 0);
  }
  return Status();
}

Result<std::unique_ptr<WindowPass>> Prober::PassFrom(size_t layer, const nn::ExecContext& context) const {
  return WindowPass::Create(LayersFrom(spec_, layer), WeightsFrom(weights_, layer), InputOfLayer(layer), text_.window,
                            context);
}

Result<std::unique_ptr<WindowPass>> Prober::PassOfOne(size_t layer) const {
  models::ModelWeights part = WeightsFrom(weights_, layer);
  part.layers.resize(1);
  part.final_norm = {};
  return WindowPass::Create(models::OneLayer(spec_, layer), std::move(part), InputOfLayer(layer), text_.window,
                            context_);
}

// Leaves in hidden_ what the layer passes on.
Status Prober::ProbeLayer(size_t layer) {
  const std::vector<size_t> probed = ProbedOf(layer);
  std::vector<std::vector<std::byte>> rounded;
  for (const size_t i : probed) {
    rounded.push_back(RoundedFloats(model_, model_.tensors()[i], probes_[i], context_.team));
  }
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WindowPass> one, PassOfOne(layer));
  std::vector<float> out(window_elements() * static_cast<size_t>(text_.num_windows()));
  for (int64_t window = 0; window < text_.num_windows(); ++window) {
    one->RunHidden(Window(window), HiddenOf(layer, window),
                   out.data() + static_cast<size_t>(window) * window_elements());
  }
  const auto load = [&](const RoundedLayer& source) {
    return models::LoadLayer(spec_, layer, NotOwned(source), context_, models::ActivationTerms::kTwo);
  };
  std::vector<double> changes;
  double all_changes = 0.0;
  for (size_t k = 0; k < probed.size(); ++k) {
    RoundedLayer source(model_);
    source.Add(model_.tensors()[probed[k]], DType::kF32, rounded[k]);
    ADIT_ASSIGN_OR_RETURN(const models::ModelWeights weights, load(source));
    one->first_layer() = weights.layers.front();
    changes.push_back(MeanChange(*one, layer, out));
    all_changes += changes.back();
  }
  if (!probed.empty()) {
    RoundedLayer source(model_);
    for (size_t k = 0; k < probed.size(); ++k) {
      source.Add(model_.tensors()[probed[k]], DType::kF32, std::move(rounded[k]));
    }
    ADIT_ASSIGN_OR_RETURN(const models::ModelWeights weights, load(source));
    ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WindowPass> pass, PassFrom(layer, context_));
    pass->first_layer() = weights.layers.front();
    found_.layer_kld[layer] = MeanDivergence(*pass, layer);
  }
  for (size_t k = 0; k < probed.size() && all_changes > 0.0; ++k) {
    found_.tensor_kld[probed[k]] = found_.layer_kld[layer] * changes[k] / all_changes;
  }
  hidden_ = std::move(out);
  return Status();
}

Result<Sensitivity> Prober::Measure() {
  ADIT_ASSIGN_OR_RETURN(weights_,
                        models::LoadWeights(spec_, NotOwned(model_), context_, models::ActivationTerms::kTwo, {}));
  found_.tensor_kld.resize(probes_.size());
  found_.layer_kld.resize(spec_.layers.size());
  ChooseRows();
  ADIT_RETURN_IF_ERROR(RunBase());
  // In passes through the whole model: the base's, one for each end, and for a layer those of it and all behind it.
  const auto num_layers = static_cast<double>(spec_.layers.size());
  const double before = 1.0 + static_cast<double>(ProbedEnds().size());
  const auto done = [&](double layers) {
    return (before + layers * (1.0 - layers / (2.0 * num_layers))) / (before + num_layers / 2.0);
  };
  ADIT_RETURN_IF_ERROR(Told(0.0));
  ADIT_RETURN_IF_ERROR(ProbeEnds());
  for (size_t layer = 0; layer < spec_.layers.size(); ++layer) {
    ADIT_RETURN_IF_ERROR(Told(done(static_cast<double>(layer))));
    ADIT_RETURN_IF_ERROR(ProbeLayer(layer));
  }
  ADIT_RETURN_IF_ERROR(Told(1.0));
  return std::move(found_);
}

}  // namespace

Result<Sensitivity> MeasureSensitivity(const formats::GgufFile& model, std::span<const formats::TensorRetyping> probes,
                                       const CalibrationText& text, const SensitivityOptions& options,
                                       const nn::ExecContext& context) {
  ADIT_CHECK(probes.size() == model.tensors().size());
  if (text.window < 2 || text.num_windows() < 1) return InvalidArgument("no text to measure with");
  ADIT_ASSIGN_OR_RETURN(const models::ModelSpec spec, models::SpecFromGguf(model));
  if (!spec.output.logits || spec.NeedsWholeSequences()) {
    return Unsupported("{}: this {} model makes embeddings; what types cost is measured on models of text",
                       model.path(), spec.architecture);
  }
  if (text.window > spec.vocab_size) {
    return InvalidArgument(
        "windows of {} tokens; what types cost is measured with at most as many as the vocabulary "
        "has, {}",
        text.window, spec.vocab_size);
  }
  return Prober(model, spec, probes, text, options, context).Measure();
}

}  // namespace adit::quant
