#ifndef ADIT_ENGINE_TEST_ENGINE_H_
#define ADIT_ENGINE_TEST_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine_core.h"
#include "engine/event_stream.h"

// What tests of the engine share: a small model of the tree, and requests run to their end.
namespace adit::engine {

std::unique_ptr<LoadedModel> LoadGolden(const std::string& family, const std::string& isa = "ref", int num_threads = 2);

// All that a stream told of a request.
struct Told {
  struct Answer {
    std::vector<int32_t> tokens;  // the one that ended it included
    std::vector<double> logprobs;
    std::vector<std::vector<sample::TokenLogprob>> tops;
    AnswerStats stats;
    bool finished = false;
  };
  std::map<int32_t, Answer> answers;
  std::vector<int32_t> prompt;
  std::vector<double> prompt_logprobs;
  Status error;
  bool done = false;

  // Takes what there is to read now.
  void Read(EventStream& stream);
};

// Runs requests through a core by hand.
class TestEngine {
 public:
  TestEngine(const LoadedModel& model, const EngineOptions& options);
  ~TestEngine();

  EngineCore& core() { return *core_; }
  // The id of the request; 0, with the reason in told(0).error, when it is refused at once.
  int64_t Add(GenerationRequest request);
  // One step, and all that can be read; streams in `slow` are left unread.
  bool Step();
  // Until nothing runs.
  void RunAll();
  const Told& told(int64_t id) const { return told_.at(id); }
  EventStream& stream(int64_t id) { return *streams_.at(id); }
  double now_s() const { return now_s_; }
  void Wait(double seconds) { now_s_ += seconds; }
  void End(int64_t id, FinishReason reason);

  std::map<int64_t, bool> slow;

 private:
  void ReadAll();

  const LoadedModel& model_;
  const EngineOptions options_;
  std::unique_ptr<EngineCore> core_;
  std::map<int64_t, std::shared_ptr<EventStream>> streams_;
  std::map<int64_t, Told> told_;
  int64_t next_id_ = 1;
  double now_s_ = 1.0;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_TEST_ENGINE_H_
