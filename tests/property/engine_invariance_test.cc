// The engine's first promise in full: a request's tokens and log probabilities are the same bits alone, in company,
// with its prefix cached or not, after preemptions, with prompts in chunks of any size, under every policy, on any
// number of threads, and for each type of cached keys and values.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/engine_core.h"
#include "engine/loaded_model.h"

namespace adit::engine {
namespace {

struct Outcome {
  std::vector<int32_t> tokens;
  std::vector<double> logprobs;
  bool operator==(const Outcome&) const = default;
};

struct Case {
  std::string name;
  std::string path;
  std::string kv_types;
  bool large = false;  // takes long: fewer requests, under fewer conditions
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name << " " << test_case.kv_types; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const std::string source = ADIT_SOURCE_DIR;
  for (const char* family : {"llama", "qwen2", "qwen3", "gemma3", "smollm3"}) {
    cases.push_back({family, source + "/tests/goldens/models/" + family + ".gguf", "auto"});
  }
  for (const char* types : {"f32", "f16", "bf16", "q8_0", "q4_0", "q8_0,q4_0", "fp8"}) {
    cases.push_back({"gemma3", source + "/tests/goldens/models/gemma3.gguf", types});
  }
  // Of phi3_longrope, some grow past the length from which on another rope turns them.
  for (const char* model : {"gemma2", "gpt_neox", "phi3_longrope"}) {
    for (const char* file : {"model-bf16.gguf", "model-f16.gguf"}) {
      const std::string path = std::string(ADIT_SHARED_DIR) + "/oracle/models/" + model + "/" + file;
      if (std::filesystem::exists(path)) cases.push_back({model, path, "auto"});
    }
  }
  for (const char* folder : {"/models/", "/../models/"}) {
    const std::string path = source + folder + "SmolLM2-135M-Instruct.Q4_1.gguf";
    if (!std::filesystem::exists(path) || cases.back().name == "smollm2") continue;
    cases.push_back({"smollm2", path, "auto", true});
    cases.push_back({"smollm2", path, "q8_0", true});
  }
  return cases;
}

class EngineInvariance : public testing::TestWithParam<Case> {
 protected:
  static constexpr int64_t kContext = 128;
  static constexpr int64_t kBatch = 64;

  void Open(int num_threads) {
    auto model = LoadedModel::Load({.path = GetParam().path, .num_threads = num_threads});
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    model_ = std::move(model).value();
  }

  EngineOptions Options() const {
    EngineOptions options;
    options.kv_types = ParseKvTypes(GetParam().kv_types).value();
    options.kv_tokens = 1024;
    options.event_capacity = 1024;
    options.scheduler.max_context = kContext;
    options.scheduler.max_batch_tokens = kBatch;
    options.scheduler.max_num_seqs = 8;
    options.scheduler.tenants.resize(2);
    return options;
  }

  // Some begin alike, some are drawn and some greedy.
  std::vector<GenerationRequest> Requests() const {
    std::mt19937 rng(5);
    const auto vocab_size = static_cast<uint32_t>(model_->spec().vocab_size);
    std::vector<int32_t> shared;
    for (int i = 0; i < 60; ++i) shared.push_back(static_cast<int32_t>(rng() % vocab_size));
    std::vector<GenerationRequest> requests;
    for (int32_t i = 0; i < (GetParam().large ? 5 : 10); ++i) {
      GenerationRequest request{.max_tokens = 8 + static_cast<int64_t>(rng() % 16), .ignore_eos = true};
      request.sampling.seed = i;
      request.sampling.temperature = i % 3 == 0 ? 0.0 : 0.9;
      request.sampling.top_k = i % 2 == 0 ? 20 : 0;
      request.sampling.repetition_penalty = i % 4 == 0 ? 1.2 : 1.0;
      request.tenant = i % 2;
      request.priority = i % 3;
      const size_t begins_alike = i % 3 == 2 ? 0 : 10 + rng() % 50;
      request.prompt.assign(shared.begin(), shared.begin() + static_cast<std::ptrdiff_t>(begins_alike));
      for (size_t n = 1 + rng() % 40; n > 0; --n) request.prompt.push_back(static_cast<int32_t>(rng() % vocab_size));
      requests.push_back(std::move(request));
    }
    return requests;
  }

  // Adds the requests as `rng` has it, or one after another without one.
  std::vector<Outcome> Run(EngineCore& core, std::vector<GenerationRequest> requests, std::mt19937* rng) {
    std::vector<std::shared_ptr<EventStream>> streams;
    std::vector<Outcome> outcomes(requests.size());
    double now = 1.0;
    size_t next = 0;
    for (int step = 0; next < requests.size() || !core.idle(); ++step) {
      if (step == 20000) {
        const EngineStats stats = core.stats();
        ADD_FAILURE() << stats.num_running << " requests run and " << stats.num_waiting << " wait for ever; "
                      << stats.pages.num_free << " pages are free, " << stats.pages.num_cached << " cached";
        break;
      }
      const bool add = rng == nullptr ? core.idle() : (*rng)() % 2 == 0;
      if (next < requests.size() && add) {
        auto stream = std::make_shared<EventStream>(1024, [] {});
        auto active = ActiveRequest::Create(std::move(requests[next++]), *model_, core.max_context(), stream);
        EXPECT_TRUE(active.ok()) << active.status().ToString();
        (*active)->id = static_cast<int64_t>(next);
        core.Add(std::move(active).value(), now);
        streams.push_back(std::move(stream));
      }
      core.Step(now += 1e-3);
    }
    for (size_t i = 0; i < streams.size(); ++i) {
      while (const auto event = streams[i]->TryNext()) {
        EXPECT_NE(event->kind, Event::Kind::kError) << event->status.ToString();
        if (event->kind != Event::Kind::kToken) continue;
        outcomes[i].tokens.push_back(event->token);
        outcomes[i].logprobs.push_back(event->logprob);
      }
    }
    return outcomes;
  }

  std::unique_ptr<EngineCore> NewCore(const EngineOptions& options) {
    auto core = EngineCore::Create(*model_, options);
    EXPECT_TRUE(core.ok()) << core.status().ToString();
    return std::move(core).value();
  }

  std::unique_ptr<LoadedModel> model_;
};

TEST_P(EngineInvariance, TokensAndLogprobsAreTheSameBits) {
  Open(2);
  EngineOptions alone = Options();
  alone.scheduler.prefix_cache = false;
  const std::vector<Outcome> expected = Run(*NewCore(alone), Requests(), nullptr);

  std::mt19937 rng(17);
  int64_t preemptions = 0;
  int64_t hits = 0;
  const auto check = [&](const EngineOptions& options, const std::string& what) {
    const auto core = NewCore(options);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(Run(*core, Requests(), &rng), expected) << what << ", round " << round;
    }
    preemptions += core->stats().scheduler.preemptions;
    hits += core->stats().prefix_cache.hit_tokens;
  };
  for (const sched::Policy policy : {sched::Policy::kFcfs, sched::Policy::kPriority, sched::Policy::kSjf,
                                     sched::Policy::kLpm, sched::Policy::kFair, sched::Policy::kDeadline}) {
    if (GetParam().large && policy != sched::Policy::kFair) continue;
    EngineOptions options = Options();
    options.scheduler.policy = policy;
    options.kv_tokens = 160;
    check(options, std::string(sched::PolicyName(policy)));
  }
  for (const int64_t chunk : {8, 13, 33}) {
    if (GetParam().large && chunk != 13) continue;
    EngineOptions options = Options();
    options.scheduler.max_batch_tokens = chunk;
    check(options, "steps of " + std::to_string(chunk));
  }
  EngineOptions options = Options();
  options.scheduler.chunked_prefill = false;
  check(options, "whole prompts");
  options.scheduler.batching = sched::Batching::kStatic;
  check(options, "static batches");
  EXPECT_GT(preemptions, 0);
  EXPECT_GT(hits, 0);
  for (const int threads : {1, 3, 4}) {
    if (GetParam().large && threads == 3) continue;
    Open(threads);
    check(Options(), std::to_string(threads) + " threads");
  }
}

// What the engine generates is what a model gives that computes all of the sequence anew for each token.
TEST(EngineLongRope, ASequenceThatGrowsLongIsOneThatWasLong) {
  const std::string path = std::string(ADIT_SHARED_DIR) + "/oracle/models/phi3_longrope/model-bf16.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  auto loaded = LoadedModel::Load({.path = path, .isa = "ref", .num_threads = 2});
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const LoadedModel& model = **loaded;
  auto runner = ModelRunner::Create(model, {.kv_tokens = 256, .max_batch_tokens = 256});
  ASSERT_TRUE(runner.ok()) << runner.status().ToString();
  std::vector<int32_t> prompt;
  for (int32_t i = 0; i < 90; ++i) prompt.push_back(i * 37 % 500);

  std::vector<int32_t> tokens = prompt;
  std::vector<int32_t> expected;
  for (int i = 0; i < 12; ++i) {
    SequenceCache sequence = (*runner)->NewSequence();
    const bool is_long = tokens.size() > 96;
    EXPECT_EQ(model.spec().IsLong(static_cast<int64_t>(tokens.size())), is_long);
    const SequenceStep step{.sequence = &sequence, .tokens = tokens, .is_long = is_long};
    auto logits = (*runner)->Run(std::span(&step, 1));
    ASSERT_TRUE(logits.ok()) << logits.status().ToString();
    const auto best = std::max_element(logits->begin(), logits->end()) - logits->begin();
    expected.push_back(static_cast<int32_t>(best));
    tokens.push_back(expected.back());
  }

  EngineOptions options;
  options.kv_tokens = 256;
  auto core = EngineCore::Create(model, options);
  ASSERT_TRUE(core.ok()) << core.status().ToString();
  GenerationRequest request{.max_tokens = 12, .ignore_eos = true};
  request.prompt = prompt;
  request.sampling.temperature = 0.0;
  auto stream = std::make_shared<EventStream>(64, [] {});
  auto active = ActiveRequest::Create(std::move(request), model, (*core)->max_context(), stream);
  ASSERT_TRUE(active.ok()) << active.status().ToString();
  (*core)->Add(std::move(active).value(), 1.0);
  for (double now = 1.0; !(*core)->idle() && now < 2.0; now += 1e-3) (*core)->Step(now);
  std::vector<int32_t> got;
  while (const auto event = stream->TryNext()) {
    if (event->kind == Event::Kind::kToken) got.push_back(event->token);
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ((*core)->stats().scheduler.preemptions, 1);
}

INSTANTIATE_TEST_SUITE_P(Models, EngineInvariance, testing::ValuesIn(Cases()));

}  // namespace
}  // namespace adit::engine
