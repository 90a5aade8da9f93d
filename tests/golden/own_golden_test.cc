// The small models of tests/goldens/models against llama.cpp's logits; made by tools/regen_model_goldens.py.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "support/model_harness.h"
#include "support/safetensors_reader.h"
#include "support/tiny_model.h"

namespace adit {
namespace {

using test::Argmax;
using test::ModelHarness;

struct Family {
  const char* name;
  double tolerance;  // of the reference kernels: what the golden itself is good to
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

class OwnGolden : public testing::TestWithParam<Family> {};

TEST_P(OwnGolden, EveryKernelSetGivesTheLogits) {
  const std::string path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/" + GetParam().name;
  auto tensors = test::ReadSafetensors(path + ".safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  const std::vector<int32_t> ids = tensors->at("ids").Int32s();
  const std::vector<int32_t> greedy = tensors->at("greedy").Int32s();
  const std::vector<float> want = tensors->at("logits").Floats();
  // Keys and values as halves, and 8-bit activations, err in proportion to the logits.
  double sum_squares = 0.0;
  for (float x : want) sum_squares += static_cast<double>(x) * x;
  const double fast_tolerance = 0.02 * std::sqrt(sum_squares / static_cast<double>(want.size()));

  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (!set.available) continue;
    const bool is_ref = std::string(set.table->name) == "ref";
    auto harness = ModelHarness::Load(path + ".gguf", *set.table, 2);
    ASSERT_TRUE(harness.ok()) << harness.status().ToString();
    const std::vector<float> got = (*harness)->Run(ids, 0, 7, 0);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], is_ref ? GetParam().tolerance : fast_tolerance)
          << set.table->name << ", logit " << i;
    }
    if (!is_ref) continue;
    int32_t next = Argmax(std::span(got).last(static_cast<size_t>((*harness)->spec().vocab_size)));
    for (size_t i = 0; i < greedy.size(); ++i) {
      ASSERT_EQ(next, greedy[i]) << "token " << i;
      next = Argmax((*harness)->Run(std::span(&next, 1), static_cast<int64_t>(ids.size() + i), 1, 0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OwnGolden,
                         testing::Values(Family{"llama", 2e-4}, Family{"qwen2", 2e-4}, Family{"qwen3", 2e-4},
                                         Family{"smollm3", 2e-4}, Family{"gemma3", 3e-2}),
                         [](const auto& test) { return std::string(test.param.name); });

// A file without an output matrix uses the embedding's rows, and one that writes them out a second time means the same;
// an output matrix of its own is used.
TEST(TiedOutput, IsTheEmbedding) {
  using test::TinyModel;
  const std::vector<int32_t> tokens = {1, 5, 2};
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (!set.available) continue;
    std::vector<std::vector<float>> logits;
    for (TinyModel::Output output :
         {TinyModel::Output::kNone, TinyModel::Output::kCopyOfEmbedding, TinyModel::Output::kOwn}) {
      const std::vector<std::byte> bytes = TinyModel{.output = output}.Build();
      auto file = formats::GgufFile::Parse(bytes, "tiny.gguf");
      ASSERT_TRUE(file.ok()) << file.status().ToString();
      auto harness = ModelHarness::Load(std::shared_ptr(std::move(file).value()), *set.table, 1);
      ASSERT_TRUE(harness.ok()) << harness.status().ToString();
      logits.push_back((*harness)->Last(tokens));
    }
    EXPECT_EQ(logits[0], logits[1]) << set.table->name;
    EXPECT_NE(logits[0], logits[2]) << set.table->name;
  }
}

// Change the token at one distance before the last of 20: with a window of 8 a layer sees a token itself and the 7
// before it, so two layers reach 14 back and not a token further, whichever way the tokens were run.
TEST(SlidingWindow, EndsWhereItSays) {
  constexpr int64_t kWindow = 8;
  constexpr int64_t kReach = 2 * (kWindow - 1);
  const std::string path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/llama.gguf";
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 20; ++i) tokens.push_back(i * 11 + 3);
  const auto changed = [&](int64_t distance) {
    std::vector<int32_t> copy = tokens;
    copy[copy.size() - 1 - static_cast<size_t>(distance)] ^= 1;
    return copy;
  };
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (!set.available) continue;
    auto harness = ModelHarness::Load(path, *set.table, 2, [&](models::ModelSpec& spec) {
      for (auto& layer : spec.layers) std::get<nn::AttentionBlockConfig>(layer.mixer).shape.window = kWindow;
    });
    ASSERT_TRUE(harness.ok()) << harness.status().ToString();
    ASSERT_EQ((*harness)->spec().layers.size(), 2u);
    const std::vector<float> base = (*harness)->Last(tokens);
    for (int64_t chunk : {int64_t{1}, int64_t{3}, int64_t{20}}) {
      EXPECT_EQ((*harness)->Last(tokens, chunk), base) << set.table->name << " chunk " << chunk;
      EXPECT_NE((*harness)->Last(changed(kReach), chunk), base) << set.table->name << " chunk " << chunk;
      EXPECT_EQ((*harness)->Last(changed(kReach + 1), chunk), base) << set.table->name << " chunk " << chunk;
    }
  }
}

}  // namespace
}  // namespace adit
