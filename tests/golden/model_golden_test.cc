// Logits and greedy continuations of small models against those of another implementation (../shared/oracle/README.md
// says how they were made and to what accuracy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "support/model_harness.h"
#include "support/safetensors_reader.h"

namespace adit {
namespace {

using test::Argmax;
using test::ModelHarness;

constexpr double kRefTolerance = 2e-4;
constexpr double kRefEncoderTolerance = 1e-5;
constexpr double kFastTolerance = 5e-2;
// Pairs of BF16 numbers: activations are rounded to 9 bits, one by one.
constexpr double kBf16Tolerance = 2.5e-1;
// Where the two best logits are closer than this, a fast kernel may rightly choose the other one.
constexpr float kSafeMargin = 0.1f;

struct Golden {
  const char* model;
  const char* file;  // of the folder; empty: the folder itself, as Hugging Face has it
  int64_t window;    // a sliding window that the GGUF file does not tell; 0: none
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.model; }

constexpr Golden kGoldens[] = {
    {"llama", "model-f32.gguf", 0},
    {"llama_8l", "model-bf16.gguf", 0},
    {"llama_bias", "model-f16.gguf", 0},
    {"llama_rope_linear", "model-bf16.gguf", 0},
    {"llama_rope_llama3", "model-bf16.gguf", 0},
    {"llama_rope_yarn", "model-bf16.gguf", 0},
    {"llama_spm", "model-bf16.gguf", 0},
    {"llama_tied", "model-f32.gguf", 0},
    {"mistral", "model-bf16.gguf", 8},
    {"qwen2", "model-f32.gguf", 0},
    {"qwen3", "model-bf16.gguf", 0},
    {"gemma3_text", "model-f32.gguf", 0},
    {"smollm3", "model-bf16.gguf", 0},
    {"cohere", "model-bf16.gguf", 0},
    {"gemma", "model-bf16.gguf", 0},
    {"gemma2", "model-bf16.gguf", 0},
    {"glm4", "model-bf16.gguf", 0},
    {"gpt2", "model-f32.gguf", 0},
    {"gpt_neox", "model-f16.gguf", 0},
    {"granite", "model-bf16.gguf", 0},
    {"olmo2", "model-bf16.gguf", 0},
    {"phi3", "model-bf16.gguf", 0},
    {"phi3_longrope", "model-bf16.gguf", 0},
    {"stablelm", "model-bf16.gguf", 0},
    {"starcoder2", "model-bf16.gguf", 0},
};

// The same models, and some that have no GGUF file, from config.json and safetensors.
constexpr const char* kHfModels[] = {"llama",
                                     "llama_8l",
                                     "llama_bias",
                                     "llama_q",
                                     "llama_rope_linear",
                                     "llama_rope_llama3",
                                     "llama_rope_yarn",
                                     "llama_spm",
                                     "llama_tied",
                                     "mistral",
                                     "qwen2",
                                     "qwen3",
                                     "cohere",
                                     "gemma",
                                     "gemma2",
                                     "glm4",
                                     "gpt2",
                                     "gpt_neox",
                                     "granite",
                                     "olmo2",
                                     "phi3",
                                     "phi3_longrope",
                                     "stablelm",
                                     "starcoder2",
                                     "gemma3_text",
                                     "smollm3"};

std::vector<Golden> HfGoldens() {
  std::vector<Golden> goldens;
  for (const char* model : kHfModels) goldens.push_back({model, "", 0});
  return goldens;
}
constexpr const char* kPrompts[] = {"p1", "p7", "p33", "p200", "text"};

double MaxAbsDiff(std::span<const float> got, std::span<const float> want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double diff = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(diff <= worst)) worst = diff;  // NaN counts as the worst
  }
  return worst;
}

class ModelGolden : public testing::TestWithParam<std::tuple<Golden, std::string>> {};

TEST_P(ModelGolden, LogitsAndGreedyTokensMatch) {
  const Golden& golden = std::get<0>(GetParam());
  const std::string& isa = std::get<1>(GetParam());
  const std::string folder = std::string(ADIT_SHARED_DIR) + "/oracle/models/" + golden.model + "/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const bool is_ref = isa == "ref";
  const double tolerance = is_ref ? kRefTolerance : isa == "avx512bf16" ? kBf16Tolerance : kFastTolerance;

  auto kernels = kernels::SelectKernels(isa);
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  auto harness = ModelHarness::Load(folder + golden.file, **kernels, 2, [&](models::ModelSpec& spec) {
    if (golden.window == 0) return;
    for (auto& layer : spec.layers) std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window = golden.window;
  });
  ASSERT_TRUE(harness.ok()) << harness.status().ToString();
  ModelHarness& model = **harness;
  auto tensors = test::ReadSafetensors(folder + "golden.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  const auto tensor = [&](const std::string& name) -> const test::TestTensor& { return tensors->at(name); };

  for (const std::string prompt : kPrompts) {
    std::vector<int32_t> tokens = tensor(prompt + ".ids").Int32s();
    std::vector<float> logits = model.Last(tokens);
    EXPECT_LE(MaxAbsDiff(logits, tensor(prompt + ".logits_last").Floats()), tolerance) << prompt;

    const std::vector<int32_t> greedy = tensor(prompt + ".greedy").Int32s();
    const std::vector<float> margins = tensor(prompt + ".greedy_margin").Floats();
    for (size_t i = 0; i < greedy.size(); ++i) {
      if (!is_ref && margins[i] <= kSafeMargin) break;  // from here the continuation may rightly differ
      ASSERT_EQ(Argmax(logits), greedy[i]) << prompt << ", token " << i;
      logits = model.Run(std::span(&greedy[i], 1), static_cast<int64_t>(tokens.size()), 1, 0);
      tokens.push_back(greedy[i]);
    }
  }
  const std::vector<int32_t> p33 = tensor("p33.ids").Int32s();
  EXPECT_LE(MaxAbsDiff(model.Run(p33, 0, ModelHarness::kMaxTokens, 0), tensor("p33.logits_all").Floats()), tolerance);
}

// Kernel set, and the file in the model's folder, or nothing for the folder itself.
class EncoderGolden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(EncoderGolden, HiddenStatesMatch) {
  const std::string folder = std::string(ADIT_SHARED_DIR) + "/oracle/models/bert/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto& [isa, file] = GetParam();
  auto kernels = kernels::SelectKernels(isa);
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  auto harness = ModelHarness::Load(folder + file, **kernels, 2);
  ASSERT_TRUE(harness.ok()) << harness.status().ToString();
  auto tensors = test::ReadSafetensors(folder + "golden.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  for (const std::string text : {"t0", "t1", "t2", "t3", "t4", "t5"}) {
    const std::vector<float> hidden = (*harness)->Hidden(tensors->at(text + ".ids").Int32s());
    EXPECT_LE(MaxAbsDiff(hidden, tensors->at(text + ".last_hidden").Floats()),
              isa == "ref" ? kRefEncoderTolerance : kFastTolerance)
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ModelGolden,
                         testing::Combine(testing::ValuesIn(kGoldens), testing::ValuesIn(test::AvailableKernelSets())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).model) + "_" + std::get<1>(test.param);
                         });

INSTANTIATE_TEST_SUITE_P(Bert, EncoderGolden,
                         testing::Combine(testing::ValuesIn(test::AvailableKernelSets()),
                                          testing::Values("model-f32.gguf", "")),
                         [](const auto& test) {
                           return std::get<0>(test.param) + (std::get<1>(test.param).empty() ? "_folder" : "_file");
                         });

INSTANTIATE_TEST_SUITE_P(HuggingFace, ModelGolden,
                         testing::Combine(testing::ValuesIn(HfGoldens()),
                                          testing::ValuesIn(test::AvailableKernelSets())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).model) + "_" + std::get<1>(test.param);
                         });

class HfConfigGolden : public testing::TestWithParam<const char*> {};

// config.v5.json is the same configuration as transformers 5 writes it.
TEST_P(HfConfigGolden, TheFormOfTransformers5GivesTheSameLogits) {
  const std::filesystem::path golden = std::filesystem::path(ADIT_SHARED_DIR) / "oracle/models" / GetParam();
  if (!std::filesystem::exists(golden)) GTEST_SKIP() << golden << " is not there";
  const std::filesystem::path folder = testing::TempDir() + "hf_v5_" + GetParam();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(golden / "config.v5.json", folder / "config.json");
  std::filesystem::create_symlink(std::filesystem::absolute(golden / "model.safetensors"),
                                  folder / "model.safetensors");

  auto kernels = kernels::SelectKernels("ref");
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  auto harness = ModelHarness::Load(folder, **kernels, 2);
  ASSERT_TRUE(harness.ok()) << harness.status().ToString();
  auto tensors = test::ReadSafetensors(golden / "golden.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  for (const std::string prompt : {"p33", "p200"}) {
    const std::vector<int32_t> tokens = tensors->at(prompt + ".ids").Int32s();
    EXPECT_LE(MaxAbsDiff((*harness)->Last(tokens), tensors->at(prompt + ".logits_last").Floats()), kRefTolerance);
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Models, HfConfigGolden, testing::ValuesIn(kHfModels),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace adit
