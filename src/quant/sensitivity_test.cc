#include "quant/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "quant/layer_name.h"
#include "quant/target_mix.h"
#include "support/model_harness.h"

namespace adit::quant {
namespace {

using formats::TensorInfo;
using formats::TensorRetyping;
using testing::HasSubstr;

constexpr int64_t kWindow = 32;
constexpr int64_t kNumWindows = 3;

std::string ModelPath(const std::string& name) { return ADIT_SOURCE_DIR "/tests/goldens/models/" + name + ".gguf"; }

std::unique_ptr<formats::GgufFile> OpenF32(const std::string& name) {
  std::unique_ptr<formats::GgufFile> model = *formats::GgufFile::Open(ModelPath(name));
  const std::vector<TensorRetyping> f32(model->tensors().size(), TensorRetyping{.dtype = DType::kF32});
  return *formats::Retyped(std::move(model), f32);
}

CalibrationText SomeText(int64_t vocab_size) {
  CalibrationText text{.tokens = {}, .window = kWindow};
  for (int64_t i = 0; i < kWindow * kNumWindows; ++i)
    text.tokens.push_back(static_cast<int32_t>((i * i * 7 + i) % vocab_size));
  return text;
}

std::vector<TensorRetyping> Unchanged(const formats::GgufFile& model) {
  std::vector<TensorRetyping> types;
  for (const TensorInfo& tensor : model.tensors()) types.push_back({.dtype = tensor.dtype});
  return types;
}

// The log-probabilities of the second halves of all windows, by the harness of the model tests.
std::vector<std::vector<double>> LogProbabilities(std::shared_ptr<formats::GgufFile> model,
                                                  const CalibrationText& text) {
  const auto harness = *test::ModelHarness::Load(std::move(model), **kernels::SelectKernels("ref"), 1);
  const auto vocab_size = static_cast<size_t>(harness->spec().vocab_size);
  std::vector<std::vector<double>> rows;
  for (int64_t window = 0; window < text.num_windows(); ++window) {
    const auto tokens = std::span(text.tokens).subspan(static_cast<size_t>(window * kWindow), kWindow);
    const std::vector<float> logits = harness->Run(tokens, 0, kWindow, kWindow / 2);
    for (size_t begin = 0; begin < logits.size(); begin += vocab_size) {
      std::vector<double> row(logits.begin() + static_cast<std::ptrdiff_t>(begin),
                              logits.begin() + static_cast<std::ptrdiff_t>(begin + vocab_size));
      double sum = 0.0;
      for (const double x : row) sum += std::exp(x);
      for (double& x : row) x -= std::log(sum);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// The mean divergence of the model with `types` from the model as it is, computed apart from the code under test.
double WholeModelKld(const std::string& name, const std::vector<TensorRetyping>& types, const CalibrationText& text) {
  const auto base = LogProbabilities(OpenF32(name), text);
  std::unique_ptr<formats::GgufFile> rounded = *formats::Retyped(OpenF32(name), types);
  const std::vector<TensorRetyping> f32(types.size(), TensorRetyping{.dtype = DType::kF32});
  const auto changed = LogProbabilities(*formats::Retyped(std::move(rounded), f32), text);
  double sum = 0.0;
  for (size_t i = 0; i < base.size(); ++i) {
    for (size_t j = 0; j < base[i].size(); ++j) sum += std::exp(base[i][j]) * (base[i][j] - changed[i][j]);
  }
  return sum / static_cast<double>(base.size());
}

class SensitivityTest : public testing::TestWithParam<const char*> {
 protected:
  SensitivityTest() : team_(*WorkerTeam::Create(2)) {}
  nn::ExecContext context() { return {**kernels::SelectKernels("ref"), *team_}; }

  std::unique_ptr<WorkerTeam> team_;
};

TEST_P(SensitivityTest, OfALayerIsTheDivergenceOfTheModelWithThatLayerRounded) {
  const auto model = OpenF32(GetParam());
  const CalibrationText text = SomeText(model->Find("token_embd.weight")->shape[0]);
  std::vector<TensorRetyping> probes = Unchanged(*model);
  for (size_t i = 0; i < probes.size(); ++i) {
    const TensorInfo& tensor = model->tensors()[i];
    if (formats::IsWeightMatrix(tensor) || tensor.name == "token_embd.weight") probes[i].dtype = DType::kQ4_0;
  }
  const Sensitivity found = *MeasureSensitivity(*model, probes, text, {}, context());
  for (size_t layer = 0; layer < found.layer_kld.size(); ++layer) {
    std::vector<TensorRetyping> one = Unchanged(*model);
    double parts = 0.0;
    for (size_t i = 0; i < one.size(); ++i) {
      if (LayerOf(model->tensors()[i].name) != layer) continue;
      one[i] = probes[i];
      parts += found.tensor_kld[i];
    }
    const double wanted = WholeModelKld(GetParam(), one, text);
    EXPECT_GT(wanted, 0.0);
    EXPECT_NEAR(found.layer_kld[layer], wanted, 1e-3 * wanted + 1e-9) << "layer " << layer;
    EXPECT_NEAR(parts, found.layer_kld[layer], 1e-9) << "layer " << layer;
  }
  for (size_t i = 0; i < probes.size(); ++i) {
    if (model->tensors()[i].name != "token_embd.weight") continue;
    std::vector<TensorRetyping> one = Unchanged(*model);
    one[i] = probes[i];
    const double wanted = WholeModelKld(GetParam(), one, text);
    EXPECT_NEAR(found.tensor_kld[i], wanted, 1e-3 * wanted + 1e-9);
  }
}

TEST_P(SensitivityTest, IsNothingWhereNothingIsRounded) {
  const auto model = OpenF32(GetParam());
  const CalibrationText text = SomeText(model->Find("token_embd.weight")->shape[0]);
  const Sensitivity found = *MeasureSensitivity(*model, Unchanged(*model), text, {}, context());
  for (const double kld : found.layer_kld) EXPECT_EQ(kld, 0.0);
  for (const double kld : found.tensor_kld) EXPECT_EQ(kld, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Models, SensitivityTest, testing::Values("llama", "gemma3"));

class TargetMixTest : public SensitivityTest {
 protected:
  TargetOptions OptionsFor(const formats::GgufFile& model, double bits_per_weight) {
    TargetOptions options{.bits_per_weight = bits_per_weight,
                          .candidates = {DType::kQ4_0, DType::kQ5_0, DType::kQ8_0},
                          .types = {},
                          .is_free = {},
                          .importance = {},
                          .measuring = {}};
    for (const TensorInfo& tensor : model.tensors()) {
      options.types.push_back(tensor.dtype);
      options.is_free.push_back(formats::IsWeightMatrix(tensor) || tensor.name == "token_embd.weight");
    }
    return options;
  }
};

TEST_P(TargetMixTest, KeepsToItsTargetAndDivergesLessThanOneTypeOfThatSize) {
  const auto model = OpenF32(GetParam());
  const CalibrationText text = SomeText(model->Find("token_embd.weight")->shape[0]);
  std::vector<TensorRetyping> uniform = Unchanged(*model);
  size_t bytes = 0;
  int64_t elements = 0;
  TargetOptions options = OptionsFor(*model, 0.0);
  for (size_t i = 0; i < uniform.size(); ++i) {
    const TensorInfo& tensor = model->tensors()[i];
    if (options.is_free[i]) uniform[i].dtype = DType::kQ5_0;
    bytes += RowBytes(uniform[i].dtype, tensor.row_elements()) * static_cast<size_t>(tensor.num_rows());
    elements += tensor.num_elements();
  }
  options.bits_per_weight = 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
  const TargetMix mix = *SolveTargetMix(*model, text, options, context());
  EXPECT_LE(mix.bits_per_weight, options.bits_per_weight);
  std::vector<TensorRetyping> mixed;
  for (const DType dtype : mix.types) mixed.push_back({.dtype = dtype});
  EXPECT_LT(WholeModelKld(GetParam(), mixed, text), WholeModelKld(GetParam(), uniform, text));
}

TEST_P(TargetMixTest, SaysWhatCanBeReached) {
  const auto model = OpenF32(GetParam());
  const auto mix = SolveTargetMix(*model, SomeText(64), OptionsFor(*model, 2.0), context());
  EXPECT_EQ(mix.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(mix.status().message(), HasSubstr("the least is 4."));
}

INSTANTIATE_TEST_SUITE_P(Models, TargetMixTest, testing::Values("llama", "gemma3"));

}  // namespace
}  // namespace adit::quant
