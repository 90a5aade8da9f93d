#include "engine/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/worker_team.h"
#include "kernels/dispatch.h"
#include "models/hf_model.h"
#include "models/registry.h"
#include "support/safetensors_reader.h"

namespace adit::engine {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::vector<int32_t>>;

// A model, threads and all, without a tokenizer.
struct Model {
  std::shared_ptr<formats::GgufFile> file;
  models::ModelSpec spec;
  std::unique_ptr<WorkerTeam> team;
  models::ModelWeights weights;
  std::unique_ptr<Embedder> embedder;
};

Result<std::unique_ptr<Model>> Load(const std::string& path, const std::string& isa, int num_threads,
                                    const EmbedderOptions& options) {
  auto model = std::make_unique<Model>();
  ADIT_ASSIGN_OR_RETURN(model->file, models::OpenModelFiles(path));
  ADIT_ASSIGN_OR_RETURN(model->spec, models::SpecFromGguf(*model->file));
  ADIT_ASSIGN_OR_RETURN(model->team, WorkerTeam::Create(num_threads));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels(isa));
  const nn::ExecContext context{*kernels, *model->team};
  ADIT_ASSIGN_OR_RETURN(model->weights,
                        models::LoadWeights(model->spec, model->file, context, models::ActivationTerms::kOutliers, {}));
  ADIT_ASSIGN_OR_RETURN(model->embedder, Embedder::Create(model->spec, model->weights, context, options));
  return model;
}

std::string OwnModel() { return std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/gemma3.gguf"; }
std::string Bert() { return std::string(ADIT_SHARED_DIR) + "/oracle/models/bert/"; }

Texts RandomTexts(int64_t vocab_size, size_t longest) {
  std::mt19937 rng(3);
  Texts texts;
  for (size_t i = 0; i < 7; ++i) {
    std::vector<int32_t>& text = texts.emplace_back(i == 2 ? longest : 1 + rng() % 30);
    for (int32_t& token : text) token = static_cast<int32_t>(rng() % static_cast<uint32_t>(vocab_size));
  }
  return texts;
}

// The same bits alone and together, in passes of any size, on any number of threads.
void ExpectInvariance(const std::string& path, size_t longest) {
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (!set.available) continue;
    auto one = Load(path, set.table->name, 1, {});
    ASSERT_TRUE(one.ok()) << one.status().ToString();
    const Texts texts = RandomTexts((*one)->spec.vocab_size, longest);
    Texts::size_type index = 0;
    std::vector<std::vector<float>> want;
    for (; index < texts.size(); ++index) {
      auto alone = (*one)->embedder->Embed(std::span(texts).subspan(index, 1));
      ASSERT_TRUE(alone.ok()) << alone.status().ToString();
      want.push_back(alone->front());
    }
    for (const int num_threads : {1, 3}) {
      for (const int64_t max_batch_tokens : {16, 50, 512}) {
        auto model = Load(path, set.table->name, num_threads, {.max_batch_tokens = max_batch_tokens});
        ASSERT_TRUE(model.ok()) << model.status().ToString();
        auto got = (*model)->embedder->Embed(texts);
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        EXPECT_EQ(*got, want) << set.table->name << ", " << num_threads << " threads, " << max_batch_tokens;
      }
    }
  }
}

TEST(Embedder, GivesATextTheSameBitsInAnyCompany) { ExpectInvariance(OwnModel(), 120); }

TEST(Embedder, GivesATextTheSameBitsInAnyCompanyWhereTokensSeeAhead) {
  if (!std::filesystem::exists(Bert())) GTEST_SKIP() << Bert() << " is not there";
  ExpectInvariance(Bert() + "model-f32.gguf", 200);
}

TEST(Embedder, AgreesWithTheReferenceOnSentenceEmbeddings) {
  if (!std::filesystem::exists(Bert())) GTEST_SKIP() << Bert() << " is not there";
  auto tensors = test::ReadSafetensors(Bert() + "golden.safetensors");
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  Texts texts;
  const std::vector<std::string> names = {"t0", "t1", "t2", "t3", "t4", "t5"};
  for (const std::string& name : names) texts.push_back(tensors->at(name + ".ids").Int32s());
  struct Case {
    Pooling pooling;
    bool normalize;
    const char* golden;
  };
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (!set.available) continue;
    for (const Case& c : {Case{Pooling::kMean, false, ".mean"}, Case{Pooling::kMean, true, ".embedding"},
                          Case{Pooling::kCls, false, ".cls"}, Case{Pooling::kNone, false, ".last_hidden"}}) {
      for (const std::string& path : {Bert() + "model-f32.gguf", Bert()}) {
        auto model = Load(path, set.table->name, 2, {.pooling = c.pooling, .normalize = c.normalize});
        ASSERT_TRUE(model.ok()) << model.status().ToString();
        auto got = (*model)->embedder->Embed(texts);
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        for (size_t i = 0; i < texts.size(); ++i) {
          const std::vector<float> want = tensors->at(names[i] + c.golden).Floats();
          ASSERT_EQ((*got)[i].size(), want.size());
          for (size_t j = 0; j < want.size(); ++j) {
            ASSERT_NEAR((*got)[i][j], want[j], 2e-5) << path << ", " << set.table->name << c.golden << ", text " << i;
          }
        }
      }
    }
  }
}

TEST(Embedder, RefusesTextsThatItCannotTake) {
  auto model = Load(OwnModel(), "ref", 1, {});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const auto message = [&](const Texts& texts) {
    return std::string((*model)->embedder->Embed(texts).status().message());
  };
  EXPECT_THAT(message({{1}, {}}), HasSubstr("text 1 has no tokens"));
  EXPECT_THAT(message({std::vector<int32_t>(129, 1)}), HasSubstr("text 0 has 129 tokens; the model takes 128"));
  EXPECT_THAT(message({{1}, {2, 259}}), HasSubstr("text 1: token 259 is not in 0..258"));
  EXPECT_TRUE((*model)->embedder->Embed({}).ok());
}

}  // namespace
}  // namespace adit::engine
