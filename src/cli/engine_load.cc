#include "cli/engine_load.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/active_request.h"
#include "engine/engine_core.h"
#include "engine/event_stream.h"
#include "sched/arrival_feed.h"
#include "sched/outcome_log.h"
#include "sched/simulator.h"
#include "sched/timeline.h"

namespace adit::cli {
namespace {

using sched::Ending;

class EngineLoad {
 public:
  EngineLoad(engine::EngineCore& core, const sched::Workload& workload, const sched::Objectives& objectives)
      : core_(core), workload_(workload), objectives_(objectives), feed_(workload), log_(workload) {}

  Status Run(const LoadProgress& progress) {
    start_ = Clock::now();
    while (log_.num_ended() < workload_.num_requests()) {
      SubmitArrivals();
      const double begin_s = Now();
      if (core_.Step(begin_s)) {
        ReadStreams(begin_s);
        progress(static_cast<double>(log_.num_ended()) / static_cast<double>(workload_.num_requests()));
        continue;
      }
      ReadStreams(begin_s);
      if (log_.num_ended() == workload_.num_requests()) break;
      if (feed_.NextArrival() == sched::kNever) {
        return Internal("bench: the engine plans nothing, with {} of {} requests ended", log_.num_ended(),
                        workload_.num_requests());
      }
      WaitUntil(feed_.NextArrival());
    }
    return failure_;
  }

  BenchRun TakeRun() {
    BenchRun run{.summary = sched::Summarize(log_.outcomes(), workload_.tenants().size(), objectives_),
                 .timeline = timeline_.Points()};
    const sched::Scheduler& scheduler = core_.scheduler();
    run.summary.steps = scheduler.counters().steps;
    run.summary.recomputed_tokens = scheduler.counters().recomputed_tokens;
    run.summary.mean_running = timeline_.mean_running();
    run.summary.pages = timeline_.pages();
    run.summary.fairness = {.largest_gap = scheduler.fair_share().largest_gap(),
                            .bound = scheduler.fair_share().bound(),
                            .violations = scheduler.fair_share().num_violations()};
    return run;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // A request on its way, and what a later turn needs of it.
  struct Live {
    std::shared_ptr<engine::EventStream> stream;
    std::vector<int32_t> tokens;  // prompt and answer; kept only where another request follows
    double submitted_s = 0.0;
  };

  double Now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void SubmitArrivals() {
    while (feed_.NextArrival() <= Now()) {
      const double arrival_s = feed_.NextArrival();
      Submit(feed_.Take(), arrival_s);
    }
  }

  void Submit(int64_t index, double arrival_s) {
    const sched::WorkloadRequest& wanted = workload_.request(index);
    engine::GenerationRequest request;
    request.prompt = feed_.TakePrompt(index);
    request.sampling.temperature = 0.0;
    request.sampling.top_logprobs = -1;
    request.max_tokens = wanted.output_tokens;
    request.ignore_eos = true;
    request.priority = wanted.priority;
    request.tenant = wanted.tenant;
    // Objectives count from the arrival, part of which a step may have taken.
    request.ttft_objective_s = objectives_.first_token_s - (Now() - arrival_s);
    request.tpot_objective_s = objectives_.token_interval_s;
    log_.Arrive(index, arrival_s, static_cast<int64_t>(request.prompt.size()));

    Live live{
        .stream = std::make_shared<engine::EventStream>(kEventCapacity, [] {}), .tokens = {}, .submitted_s = Now()};
    live.stream->SetOnReady([this, index] { ready_.push_back(index); });
    if (feed_.HasFollowers(index)) live.tokens = request.prompt;
    Result<std::unique_ptr<engine::ActiveRequest>> active =
        engine::ActiveRequest::Create(std::move(request), core_.model(), core_.max_context(), live.stream);
    if (!active.ok()) {
      EndWithout(index, sched::EndingOf(active.status().code()), active.status());
      return;
    }
    (*active)->id = index;
    const double submitted_s = live.submitted_s;
    live_.emplace(index, std::move(live));
    core_.Add(*std::move(active), submitted_s);
  }

  // All that the last step told, and the load it ran under.
  void ReadStreams(double begin_s) {
    const double now_s = Now();
    num_tokens_ = 0;
    // Reading may end requests, and nothing is told meanwhile.
    std::vector<int64_t> ready = std::exchange(ready_, {});
    for (const int64_t index : ready) ReadStream(index, now_s);
    const sched::StepPlan* plan = core_.last_plan();
    timeline_.Add(begin_s, now_s,
                  {.running = core_.scheduler().num_running(),
                   .waiting = core_.scheduler().num_waiting(),
                   .pages = core_.scheduler().page_use(),
                   .prompt_tokens = plan == nullptr ? 0 : plan->load.prefill_tokens,
                   .output_tokens = num_tokens_});
    last_s_ = now_s;
  }

  void ReadStream(int64_t index, double now_s) {
    const auto entry = live_.find(index);
    if (entry == live_.end()) return;
    Live& live = entry->second;
    while (std::optional<engine::Event> event = live.stream->TryNext()) {
      switch (event->kind) {
        case engine::Event::Kind::kToken:
          ++num_tokens_;
          log_.Token(index, now_s);
          if (feed_.HasFollowers(index)) live.tokens.push_back(event->token);
          break;
        case engine::Event::Kind::kFinished:
          NoteStats(*event->stats, live.submitted_s, log_[index]);
          break;
        case engine::Event::Kind::kDone:
          feed_.Complete(index, live.tokens, now_s);
          log_.End(index, Ending::kComplete, now_s);
          live_.erase(entry);
          return;
        case engine::Event::Kind::kError: {
          const Status status = std::move(event->status);
          live_.erase(entry);
          EndWithout(index, sched::EndingOf(status.code()), status);
          return;
        }
        case engine::Event::Kind::kPromptToken:
          break;
      }
    }
  }

  static void NoteStats(const engine::AnswerStats& stats, double submitted_s, sched::RequestOutcome& outcome) {
    outcome.first_step_s = submitted_s + stats.queue_seconds;
    outcome.cached_tokens = stats.cached_tokens;
    outcome.preemptions = stats.num_preemptions;
    outcome.chunks = stats.num_chunks;
  }

  void EndWithout(int64_t index, Ending ending, const Status& status) {
    if (ending == Ending::kFailed && failure_.ok()) failure_ = status;
    const double now_s = Now();
    log_.End(index, ending, now_s);
    for (const int64_t follower : feed_.Drop(index)) log_.End(follower, Ending::kSkipped, now_s);
  }

  void WaitUntil(double time_s) {
    std::this_thread::sleep_until(start_ +
                                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s)));
    const double now_s = Now();
    timeline_.Add(last_s_, now_s, {.pages = core_.scheduler().page_use()});
    last_s_ = now_s;
  }

  // A step brings one token, and all is read after each step.
  static constexpr size_t kEventCapacity = 8;

  engine::EngineCore& core_;
  const sched::Workload& workload_;
  const sched::Objectives objectives_;
  sched::ArrivalFeed feed_;
  sched::OutcomeLog log_;
  sched::Timeline timeline_;
  std::unordered_map<int64_t, Live> live_;
  std::vector<int64_t> ready_;  // whose stream has something to read
  Clock::time_point start_;
  double last_s_ = 0.0;     // that the timeline covers
  int64_t num_tokens_ = 0;  // of the last step
  Status failure_;
};

}  // namespace

Result<BenchRun> ServeWithEngine(const engine::LoadedModel& model, engine::EngineOptions options,
                                 const sched::Workload& workload, const sched::Objectives& objectives,
                                 const LoadProgress& progress) {
  options.scheduler.tenants = sched::TenantsOf(workload);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::EngineCore> core, engine::EngineCore::Create(model, options));
  EngineLoad load(*core, workload, objectives);
  ADIT_RETURN_IF_ERROR(load.Run(progress));
  return load.TakeRun();
}

}  // namespace adit::cli
