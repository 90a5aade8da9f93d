// Quantised Hugging Face checkpoints: logits and greedy continuations against those of another implementation that used
// the dequantised weights (../shared/oracle/README.md), and the weights themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/json.h"
#include "kernels/dispatch.h"
#include "models/hf_model.h"
#include "models/hf_tensors.h"
#include "support/model_harness.h"
#include "support/safetensors_reader.h"

namespace adit {
namespace {

using test::Argmax;
using test::ModelHarness;

struct Checkpoint {
  const char* name;
  DType dtype;       // that the weights of its layers are held in
  double tolerance;  // of logits with float activations
};

void PrintTo(const Checkpoint& checkpoint, std::ostream* out) { *out << checkpoint.name; }

constexpr double kExact = 2e-4;
constexpr double kFast = 0.25;      // the worst of activations of eight bits; random weights, logits spread by 2.5
constexpr double kFastMean = 0.06;  // root mean square

constexpr Checkpoint kCheckpoints[] = {
    {"gptq_v1", DType::kInt4, kExact},         {"gptq_v1_asym", DType::kInt4, kExact},
    {"gptq_v2", DType::kInt4, kExact},         {"gptq_v1_desc_act", DType::kF32, kExact},
    {"gptq_v2_desc_act", DType::kF32, kExact}, {"awq", DType::kInt4, kExact},
    {"ct_w4a16", DType::kInt4, kExact},        {"ct_w8a8_int8", DType::kInt8, kExact},
    {"ct_fp8", DType::kFp8, kExact},           {"ct_fp8_channel", DType::kFp8, kExact},
    {"fp8_block128", DType::kFp8, kExact},     {"fp8_static", DType::kFp8, kExact},
};

std::vector<int32_t> Ints(const formats::Json& array) {
  std::vector<int32_t> numbers;
  for (const formats::Json& number : *array.AsArray()) numbers.push_back(static_cast<int32_t>(*number.AsInt()));
  return numbers;
}

class QuantizedGolden : public testing::TestWithParam<std::tuple<Checkpoint, std::string>> {
 protected:
  void SetUp() override {
    folder_ = std::string(ADIT_SHARED_DIR) + "/oracle/quant/" + std::get<0>(GetParam()).name;
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << folder_ << " is not there";
  }
  std::string folder_;
};

TEST_P(QuantizedGolden, LogitsAndGreedyTokensMatch) {
  const auto& [checkpoint, isa] = GetParam();
  auto harness = ModelHarness::Load(folder_, **kernels::SelectKernels(isa), 2);
  ASSERT_TRUE(harness.ok()) << harness.status().ToString();
  const auto golden = test::ReadSafetensors(folder_ + "/golden.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  const double tolerance = isa == "ref" ? checkpoint.tolerance : kFast;
  const auto told = formats::Json::ReadFile(folder_ + "/golden.json");
  ASSERT_TRUE(told.ok()) << told.status().ToString();
  for (const std::string prompt : {"p7", "p33", "p200"}) {
    const formats::Json& text = *told->Find("prompts")->Find(prompt);
    std::vector<int32_t> tokens = Ints(*text.Find("ids"));
    std::vector<float> logits = (*harness)->Last(tokens);
    const std::vector<float> wanted = golden->at(prompt + ".logits_last").Floats();
    ASSERT_EQ(logits.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(logits[i], wanted[i], tolerance) << prompt << " " << i;
    const std::vector<int32_t> greedy = Ints(*text.Find("greedy"));
    const formats::Json::Array& margins = *text.Find("greedy_margin")->AsArray();
    for (size_t i = 0; i < greedy.size() && *margins[i].AsDouble() > 2.0 * tolerance; ++i) {
      ASSERT_EQ(Argmax(logits), greedy[i]) << prompt << ", token " << i;
      logits = (*harness)->Run(std::span(&greedy[i], 1), static_cast<int64_t>(tokens.size()), 1, 0);
      tokens.push_back(greedy[i]);
    }
  }
  const std::vector<int32_t> p33 = Ints(*told->Find("prompts")->Find("p33")->Find("ids"));
  const std::vector<float> all = (*harness)->Run(p33, 0, ModelHarness::kMaxTokens, 0);
  const std::vector<float> wanted = golden->at("p33.logits_all").Floats();
  ASSERT_EQ(all.size(), wanted.size());
  double squares = 0.0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(all[i], wanted[i], tolerance) << i;
    squares += (all[i] - wanted[i]) * (all[i] - wanted[i]);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(all.size())), std::min(tolerance, kFastMean));
}

TEST_P(QuantizedGolden, WeightsAreThoseOfTheCheckpoint) {
  const Checkpoint& checkpoint = std::get<0>(GetParam());
  if (!std::filesystem::exists(folder_ + "/dequant_layer0.safetensors")) GTEST_SKIP() << "no weights to compare with";
  const auto golden = test::ReadSafetensors(folder_ + "/dequant_layer0.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  const auto model = models::OpenHfModel(folder_);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const formats::TensorInfo* tensor = (*model)->Find("blk.0.attn_k.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->dtype, checkpoint.dtype);
  std::vector<float> got(static_cast<size_t>(tensor->num_elements()));
  formats::ReadFloats(**model, *tensor, got.data());
  const std::vector<float> wanted = golden->at("model.layers.0.self_attn.k_proj.weight").Floats();
  ASSERT_EQ(got.size(), wanted.size());
  // GGUF files of this family keep the rows of a head in another order.
  const models::HfTensorRule rule{.hf = {},
                                  .gguf = {},
                                  .transform = models::HfTransform::kInterleaveHeads,
                                  .num_heads = *(*model)->metadata().GetInt("llama.attention.head_count_kv")};
  constexpr float kRelative = 1e-6f;
  const int64_t cols = tensor->row_elements();
  for (int64_t row = 0; row < tensor->num_rows(); ++row) {
    const int64_t from = models::HfSourceRow(rule, row, tensor->num_rows());
    for (int64_t col = 0; col < cols; ++col) {
      const float value = wanted[static_cast<size_t>(from * cols + col)];
      ASSERT_NEAR(got[static_cast<size_t>(row * cols + col)], value, kRelative * std::abs(value) + 1e-7f)
          << row << " " << col;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, QuantizedGolden,
                         testing::Combine(testing::ValuesIn(kCheckpoints),
                                          testing::ValuesIn(test::AvailableKernelSets())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" + std::get<1>(test.param);
                         });

}  // namespace
}  // namespace adit
