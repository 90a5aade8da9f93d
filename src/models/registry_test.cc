#include "models/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/worker_team.h"
#include "kernels/dispatch.h"
#include "models/weights.h"
#include "support/gguf_builder.h"
#include "support/tiny_model.h"

namespace adit::models {
namespace {

using test::TinyModel;
using testing::HasSubstr;

Result<ModelSpec> SpecOf(const TinyModel& model) {
  const std::vector<std::byte> bytes = model.Build();
  ADIT_ASSIGN_OR_RETURN(const auto file, formats::GgufFile::Parse(bytes, "tiny.gguf"));
  return SpecFromGguf(*file);
}

Status LoadingOf(const TinyModel& model) {
  const std::vector<std::byte> bytes = model.Build();
  ADIT_ASSIGN_OR_RETURN(std::shared_ptr<formats::GgufFile> file, formats::GgufFile::Parse(bytes, "tiny.gguf"));
  ADIT_ASSIGN_OR_RETURN(const ModelSpec spec, SpecFromGguf(*file));
  ADIT_ASSIGN_OR_RETURN(const auto team, WorkerTeam::Create(1));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels("ref"));
  return LoadWeights(spec, file, {*kernels, *team}, ActivationTerms::kOne, {}).status();
}

TEST(Registry, ReadsAPlainModel) {
  const auto spec = SpecOf({});
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->vocab_size, 8);
  EXPECT_EQ(spec->hidden_dim, 16);
  EXPECT_EQ(spec->context_length, 64);
  EXPECT_FLOAT_EQ(spec->norm_eps, 1e-6f);
  ASSERT_EQ(spec->layers.size(), 1u);
  const auto& attention = std::get<nn::AttentionBlockConfig>(spec->layers[0].mixer);
  EXPECT_EQ(attention.shape.k_dim, 8);
  EXPECT_EQ(attention.shape.num_kv_heads, 1);
  EXPECT_FLOAT_EQ(attention.shape.scale, 1.0f / std::sqrt(8.0f));
  EXPECT_TRUE(spec->ropes[0].interleaved);
  EXPECT_TRUE(LoadingOf({}).ok()) << LoadingOf({}).ToString();
}

TEST(Registry, RefusesAnotherArchitectureByNameAndSaysWhatItRuns) {
  const auto spec = SpecOf({.architecture = "rwkv7"});
  EXPECT_EQ(spec.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(spec.status().message(), HasSubstr("'rwkv7'"));
  EXPECT_THAT(spec.status().message(),
              HasSubstr("bert, command-r, gemma, gemma2, gemma3, glm4, gpt2, gptneox, granite, llama, "));
}

TEST(Registry, RefusesWhatItWouldHaveToIgnore) {
  const std::vector<std::pair<std::string, std::function<void(test::GgufBuilder&)>>> cases = {
      {"llama.expert_count", [](auto& builder) { builder.template Add<uint32_t>("llama.expert_count", 8); }},
      {"llama.attention.scale", [](auto& builder) { builder.template Add<float>("llama.attention.scale", 0.5f); }},
      {"longrope", [](auto& builder) { builder.AddString("llama.rope.scaling.type", "longrope"); }},
  };
  for (const auto& [what, add] : cases) {
    const auto spec = SpecOf({.more_keys = add});
    EXPECT_EQ(spec.status().code(), StatusCode::kUnsupported) << what;
    EXPECT_THAT(spec.status().message(), HasSubstr(what));
  }
}

TEST(Registry, Gemma2FilesThatSayNothingHaveTheCapsOfTheReleasedModels) {
  const auto spec = SpecOf({.architecture = "gemma2"});
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->output.softcap, 30.0f);
  EXPECT_EQ(std::get<nn::AttentionBlockConfig>(spec->layers[0].mixer).shape.softcap, 50.0f);
  EXPECT_EQ(std::get<nn::AttentionBlockConfig>(spec->layers[0].mixer).shape.window, 4096);
}

TEST(Registry, GraniteMultipliersAreRead) {
  const auto spec = SpecOf({.architecture = "granite", .more_keys = [](auto& builder) {
                              builder.template Add<float>("granite.attention.scale", 0.5f)
                                  .template Add<float>("granite.embedding_scale", 12.0f)
                                  .template Add<float>("granite.residual_scale", 0.25f)
                                  .template Add<float>("granite.logit_scale", 8.0f);
                            }});
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(std::get<nn::AttentionBlockConfig>(spec->layers[0].mixer).shape.scale, 0.5f);
  EXPECT_EQ(spec->embedding.scale, 12.0f);
  EXPECT_EQ(spec->residual_scale, 0.25f);
  EXPECT_EQ(spec->output.scale, 0.125f);
}

TEST(Registry, StableLmIsParallelWhereItHasOneNorm) {
  EXPECT_EQ(SpecOf({.architecture = "stablelm"})->layers[0].feed_forward_input, FeedForwardInput::kAfterMixer);
  EXPECT_EQ(SpecOf({.architecture = "stablelm", .without = "blk.0.ffn_norm.weight"})->layers[0].feed_forward_input,
            FeedForwardInput::kAsMixer);
}

TEST(Registry, AnyFamilyMayLookAheadUnlessItHasAWindow) {
  const auto spec_with = [](const std::string& architecture) {
    return SpecOf({.architecture = architecture, .more_keys = [&](auto& builder) {
                     builder.template Add<bool>(architecture + ".attention.causal", false)
                         .template Add<uint32_t>(architecture + ".attention.sliding_window", 0);
                   }});
  };
  EXPECT_TRUE(spec_with("llama")->NeedsWholeSequences());
  EXPECT_FALSE(SpecOf({})->NeedsWholeSequences());
  const auto windowed = SpecOf({.more_keys = [](auto& builder) {
    builder.template Add<bool>("llama.attention.causal", false)
        .template Add<uint32_t>("llama.attention.sliding_window", 8);
  }});
  EXPECT_EQ(windowed.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(windowed.status().message(), HasSubstr("llama.attention.causal is false"));
}

TEST(Registry, LongRopeNeedsBothTensorsInTheirSize) {
  const auto missing = SpecOf({.architecture = "phi3", .extra = "rope_factors_long.weight"});
  EXPECT_THAT(missing.status().message(), HasSubstr("'rope_factors_short.weight' is not 4 values"));
  EXPECT_EQ(SpecOf({.architecture = "phi3"})->ShortRopeLength(), 0);
}

TEST(Registry, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(SpecOf({.num_heads = 0}).status().message(), HasSubstr("llama.attention.head_count is 0"));
  EXPECT_THAT(SpecOf({.num_heads = 3, .num_kv_heads = 2}).status().message(), HasSubstr("not a multiple"));
  EXPECT_THAT(SpecOf({.num_heads = 32, .num_kv_heads = 1}).status().message(), HasSubstr("heads of 0"));
  const auto nan = [](test::GgufBuilder& builder) { builder.Add<float>("llama.rope.freq_base", NAN); };
  EXPECT_THAT(SpecOf({.more_keys = nan}).status().message(), HasSubstr("llama.rope.freq_base"));
}

TEST(Weights, MissingTensorIsNamed) {
  for (const char* name : {"blk.0.attn_q.weight", "blk.0.ffn_norm.weight", "output_norm.weight", "token_embd.weight"}) {
    const Status status = LoadingOf({.without = name});
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << name;
    EXPECT_THAT(status.message(), HasSubstr(std::string("'") + name + "' is missing"));
  }
}

TEST(Weights, MissingGateIsNamedWhereUpHasItsOwnSize) {
  const Status status = LoadingOf({.without = "blk.0.ffn_gate.weight"});
  EXPECT_THAT(status.message(), HasSubstr("'blk.0.ffn_gate.weight' is missing"));
}

TEST(Weights, TensorWithoutAPlaceIsRefused) {
  const Status status = LoadingOf({.extra = "blk.0.attn_q_norm.weight"});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("'blk.0.attn_q_norm.weight'"));
}

TEST(Weights, WrongShapeIsRefusedWithBothShapes) {
  const Status status = LoadingOf({.num_heads = 4, .num_kv_heads = 4});
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("'blk.0.attn_k.weight' is [8, 16], expected [16, 16]"));
}

TEST(Weights, WithoutAnOutputMatrixTheEmbeddingIsTied) {
  EXPECT_TRUE(LoadingOf({.output = TinyModel::Output::kNone}).ok())
      << LoadingOf({.output = TinyModel::Output::kNone}).ToString();
}

}  // namespace
}  // namespace adit::models
