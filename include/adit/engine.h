#ifndef ADIT_ENGINE_H_
#define ADIT_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/grammar.h"
#include "adit/request.h"
#include "adit/status.h"

// The engine for programs that hold it themselves: load a model, ask it from any number of threads. Requests run
// together, continuously batched over one paged cache; each gets the tokens that it would get alone, bit for bit.
namespace adit {

// Someone who shares the engine with others; requests name one by its index.
struct TenantOptions {
  std::string name = "default";
  double weight = 1.0;  // of its share under the fair policy
};

struct EngineOptions {
  std::string model_path;        // a .gguf file or a Hugging Face folder
  std::string dtype = "auto";    // float weights are held as: auto (as stored), f32, f16, bf16
  std::string quantization;      // float weights are quantised while loading: q8_0, q4_0, q4_1, q5_0, q5_1; empty: not
  int num_threads = 0;           // 0: one for each CPU that this process may use
  bool bind_threads = true;      // each to a CPU of its own, where it has as many threads as CPUs
  std::string isa = "auto";      // kernel set: auto, ref, avx2, avx512
  std::string kv_type = "auto";  // of cached keys and values: f32, f16, bf16, q8_0, q4_0, fp8, or K,V: "q8_0,q4_0"
  // Memory that the whole process may come to use, as "24G" or as a share of the machine's or its control group's. What
  // weights and scratch leave of it is the cache's, as far as max_num_seqs sequences can use it.
  std::string memory = "80%";
  int64_t kv_tokens = 0;           // tokens that the cache holds, all sequences together; 0: what `memory` has room for
  int64_t context_length = 0;      // of a sequence; 0: the model's own
  int64_t max_num_seqs = 64;       // that run at once
  int64_t max_batch_tokens = 512;  // of one step
  std::string policy = "fcfs";     // fcfs, priority, sjf, lpm, fair, deadline
  bool prefix_cache = true;
  double itl_target_ms = 0.0;  // > 0: prompts run in chunks so small that the time between others' tokens keeps to it
  int64_t max_queued_requests = 1024;  // 0: no limit
  int64_t max_queued_tokens = 0;       // 0: no limit
  std::vector<TenantOptions> tenants;  // empty: one, of weight 1
  // Of loading, 0 to 1; called by the loading thread. An error ends the loading with it.
  std::function<Status(double share)> progress;
};

// One answer, whole.
struct Answer {
  std::vector<int32_t> tokens;   // without the end-of-generation or stop token that ended it
  std::vector<double> logprobs;  // of them; NaN where none were asked for
  std::string text;
  AnswerStats stats;
};

struct Completion {
  std::vector<Answer> answers;
  std::vector<double> prompt_logprobs;  // with GenerationRequest::prompt_logprobs; the first is NaN
};

// A request under way. Dropping it cancels what has not ended. One thread at a time.
class RequestStream {
 public:
  RequestStream(RequestStream&&) noexcept;
  RequestStream& operator=(RequestStream&&) noexcept;
  ~RequestStream();

  // The next event, when it comes; nothing after the last one.
  std::optional<Event> Next();
  // The same, but nothing also when there is none yet.
  std::optional<Event> TryNext();
  // Ends the request within one step; its last events still come.
  void Cancel();

 private:
  friend class Engine;
  class Impl;
  explicit RequestStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What the engine holds and does, for people and dashboards.
struct EngineInfo {
  std::string architecture;
  std::string kernel_set;
  int num_threads = 0;
  int64_t vocab_size = 0;
  int64_t max_context = 0;  // tokens of the longest sequence that fits
  int64_t kv_tokens = 0;    // that the cache holds
  int64_t num_running = 0;  // sequences
  int64_t num_waiting = 0;
  int64_t prompt_tokens = 0;  // computed so far
  int64_t output_tokens = 0;
  int64_t cache_hit_tokens = 0;  // of prompts, found in the prefix cache
  int64_t preemptions = 0;
  double kv_usage = 0.0;  // share of the cache's pages that running sequences hold
};

// A loaded model and the thread that serves it. Any thread may call.
class Engine {
 public:
  // Loads the model and starts. NotFound, Corrupt or Unsupported for the file, InvalidArgument for the options,
  // ResourceExhausted when memory does not suffice; the message says what would be right.
  static Result<std::unique_ptr<Engine>> Open(const EngineOptions& options);
  // Ends all requests as cancelled.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Token ids of a text, with the tokens that the model wants at its ends. `parse_special`: control tokens written out
  // in it are taken for such; leave it off for what users wrote.
  Result<std::vector<int32_t>> Tokenize(std::string_view text, bool parse_special = false) const;
  std::string Detokenize(const std::vector<int32_t>& tokens) const;

  // Runs a request to its end. Errors of the request are returned, as are those that Start tells of.
  Result<Completion> Generate(GenerationRequest request);
  // Runs many together; one result for each, in their order.
  std::vector<Result<Completion>> GenerateBatch(std::vector<GenerationRequest> requests);
  // Begins a request and returns its stream. `on_ready`, if any, is called on the engine's thread when there is
  // something to read that was not there before; it must not block. InvalidArgument for what is wrong in the request;
  // FailedPrecondition once the engine drains. A full queue or an objective that cannot be met comes as an event.
  Result<RequestStream> Start(GenerationRequest request, std::function<void()> on_ready = {});

  // Compiles what answers are to be held to, for GenerationRequest::grammar, or finds it compiled already; waits.
  // InvalidArgument, with the place, for a text that is no grammar; Unsupported, by name, for what cannot be enforced.
  Result<GrammarPtr> CompileGrammar(const GrammarSpec& spec);

  EngineInfo Info() const;
  // What the model's file recommends for sampling, and the defaults of SamplingParams for the rest.
  const SamplingParams& RecommendedSampling() const;
  // Takes no more requests and waits until those there are have ended, at most timeout_s. True when they have.
  bool Drain(double timeout_s);

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit

#endif  // ADIT_ENGINE_H_
