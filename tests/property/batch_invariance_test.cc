// The engine's first promise: the logits of a sequence are the same bits alone, in any company, with its prompt whole
// or in chunks of any size, on any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/loaded_model.h"
#include "engine/model_runner.h"
#include "kernels/dispatch.h"

namespace adit::engine {
namespace {

struct Case {
  std::string name;
  std::string path;
  int64_t longest;  // tokens of the longest sequence
  size_t num_sequences;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

// A real model where one is found, and the small ones of the tree and of ../shared.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, const std::string& path, int64_t longest, size_t num_sequences) {
    if (std::filesystem::exists(path)) cases.push_back({std::move(name), path, longest, num_sequences});
  };
  const std::string source = ADIT_SOURCE_DIR;
  for (const char* family : {"llama", "qwen2", "qwen3", "gemma3", "smollm3"}) {
    add(std::string("own_") + family, source + "/tests/goldens/models/" + family + ".gguf", 300, 5);
  }
  for (const char* model :
       {"llama_bias", "llama_rope_yarn", "gemma3_text", "qwen3", "gemma", "gemma2", "phi3", "olmo2", "granite", "glm4",
        "cohere", "gpt2", "gpt_neox", "starcoder2", "stablelm", "phi3_longrope"}) {
    for (const char* file : {"model-f32.gguf", "model-bf16.gguf", "model-f16.gguf"}) {
      add(std::string("shared_") + model, std::string(ADIT_SHARED_DIR) + "/oracle/models/" + model + "/" + file, 300,
          5);
    }
  }
  for (const char* folder : {"/models/", "/../models/"}) {
    if (cases.back().name == "smollm2") break;
    add("smollm2", source + folder + "SmolLM2-135M-Instruct.Q4_1.gguf", 270, 3);
  }
  return cases;
}

std::vector<std::vector<int32_t>> RandomSequences(const Case& test_case, int64_t vocab_size) {
  std::mt19937 rng(11);
  std::vector<std::vector<int32_t>> sequences;
  for (size_t i = 0; i < test_case.num_sequences; ++i) {
    const size_t length = i == 0 ? static_cast<size_t>(test_case.longest) : 1 + rng() % 40;
    sequences.emplace_back(length);
    for (int32_t& token : sequences.back()) token = static_cast<int32_t>(rng() % static_cast<uint32_t>(vocab_size));
  }
  return sequences;
}

class BatchInvariance : public testing::TestWithParam<std::tuple<Case, std::string>> {
 protected:
  static constexpr int64_t kMaxBatch = 256;

  void Open(int num_threads) {
    const auto& [test_case, isa] = GetParam();
    runner_.reset();
    auto model = LoadedModel::Load({.path = test_case.path, .isa = isa, .num_threads = num_threads});
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    model_ = std::move(model).value();
    auto runner = ModelRunner::Create(*model_, {.kv_tokens = 4096, .max_batch_tokens = kMaxBatch});
    ASSERT_TRUE(runner.ok()) << runner.status().ToString();
    runner_ = std::move(runner).value();
  }

  // Logits of every position of one sequence by itself, in chunks of at most `chunk`.
  std::vector<float> Alone(std::span<const int32_t> tokens, int64_t chunk) {
    SequenceCache sequence = runner_->NewSequence();
    const bool is_long = model_->spec().IsLong(static_cast<int64_t>(tokens.size()));
    std::vector<float> all;
    while (!tokens.empty()) {
      const auto part = tokens.first(std::min(tokens.size(), static_cast<size_t>(chunk)));
      const SequenceStep step{.sequence = &sequence, .tokens = part, .is_long = is_long, .logits = LogitsWanted::kAll};
      auto logits = runner_->Run(std::span(&step, 1));
      EXPECT_TRUE(logits.ok()) << logits.status().ToString();
      all.insert(all.end(), logits->begin(), logits->end());
      tokens = tokens.subspan(part.size());
    }
    return all;
  }

  // The same for many sequences at once: each pass takes random stretches of those that are not done.
  std::vector<std::vector<float>> Together(const std::vector<std::vector<int32_t>>& sequences, uint32_t seed) {
    std::mt19937 rng(seed);
    std::vector<SequenceCache> caches;
    for (size_t i = 0; i < sequences.size(); ++i) caches.push_back(runner_->NewSequence());
    std::vector<std::vector<float>> all(sequences.size());
    while (true) {
      std::vector<SequenceStep> steps;
      std::vector<size_t> owners;
      int64_t room = kMaxBatch;
      for (size_t i = 0; i < sequences.size(); ++i) {
        const int64_t left = static_cast<int64_t>(sequences[i].size()) - caches[i].num_tokens();
        if (left == 0 || room == 0 || rng() % 4 == 0) continue;
        const int64_t take = 1 + static_cast<int64_t>(rng() % static_cast<uint32_t>(std::min(left, room)));
        steps.push_back({.sequence = &caches[i],
                         .tokens = std::span(sequences[i])
                                       .subspan(static_cast<size_t>(caches[i].num_tokens()), static_cast<size_t>(take)),
                         .is_long = model_->spec().IsLong(static_cast<int64_t>(sequences[i].size())),
                         .logits = LogitsWanted::kAll});
        owners.push_back(i);
        room -= take;
      }
      if (steps.empty()) {
        bool done = true;
        for (size_t i = 0; i < sequences.size(); ++i) {
          done &= caches[i].num_tokens() == static_cast<int64_t>(sequences[i].size());
        }
        if (done) return all;
        continue;
      }
      auto logits = runner_->Run(steps);
      EXPECT_TRUE(logits.ok()) << logits.status().ToString();
      const float* next = logits->data();
      for (size_t s = 0; s < steps.size(); ++s) {
        const size_t count = steps[s].tokens.size() * static_cast<size_t>(model_->spec().vocab_size);
        all[owners[s]].insert(all[owners[s]].end(), next, next + count);
        next += count;
      }
    }
  }

  // Equal as bytes, so that a NaN cannot hide and a zero keeps its sign.
  static void ExpectSameBits(const std::vector<float>& got, const std::vector<float>& want, const std::string& how) {
    ASSERT_EQ(got.size(), want.size()) << how;
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0) << how;
  }

  std::unique_ptr<LoadedModel> model_;
  std::unique_ptr<ModelRunner> runner_;
};

TEST_P(BatchInvariance, LogitsAreTheSameBits) {
  const auto& [test_case, isa] = GetParam();
  const bool is_real = test_case.name == "smollm2";
  if (is_real && isa == "ref") GTEST_SKIP() << "the reference kernels are too slow for a real model here";
  ASSERT_NO_FATAL_FAILURE(Open(1));
  const auto sequences = RandomSequences(test_case, model_->spec().vocab_size);
  std::vector<std::vector<float>> want;
  for (const auto& sequence : sequences) want.push_back(Alone(sequence, kMaxBatch));

  for (int num_threads : {1, 2, 3, 4}) {
    ASSERT_NO_FATAL_FAILURE(Open(num_threads));
    const std::string threads = ", " + std::to_string(num_threads) + " threads";
    for (int64_t chunk : is_real ? std::vector<int64_t>{17} : std::vector<int64_t>{13, 64, kMaxBatch}) {
      ExpectSameBits(Alone(sequences[0], chunk), want[0], "chunks of " + std::to_string(chunk) + threads);
    }
    ExpectSameBits(Alone(sequences[1], 1), want[1], "a token at a time" + threads);
    const auto together = Together(sequences, static_cast<uint32_t>(num_threads));
    for (size_t i = 0; i < sequences.size(); ++i) {
      ExpectSameBits(together[i], want[i], "sequence " + std::to_string(i) + " in company" + threads);
    }
    EXPECT_EQ(runner_->pool().num_free(), runner_->pool().num_blocks());
  }
}

std::vector<std::string> AvailableSets() {
  std::vector<std::string> names;
  for (const kernels::KernelSet& set : kernels::KernelSets()) {
    if (set.available) names.push_back(set.table->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, BatchInvariance,
                         testing::Combine(testing::ValuesIn(Cases()), testing::ValuesIn(AvailableSets())),
                         [](const auto& test) { return std::get<0>(test.param).name + "_" + std::get<1>(test.param); });

}  // namespace
}  // namespace adit::engine
