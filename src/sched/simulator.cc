#include "sched/simulator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "sched/arrival_feed.h"
#include "sched/flag_text.h"
#include "sched/outcome_log.h"

namespace adit::sched {
namespace {

class Simulation {
 public:
  Simulation(const Workload& workload, const SimulatorOptions& options, Scheduler& scheduler)
      : workload_(workload), options_(options), scheduler_(scheduler), feed_(workload), log_(workload) {}

  Status Run() {
    while (true) {
      SubmitArrivals();
      const StepPlan& plan = scheduler_.Plan(now_s_);
      const bool gave_up = GiveUp(plan);
      if (!plan.rows.empty()) {
        RunStep(plan);
        idle_plans_ = 0;
        continue;
      }
      // A plan may give up or preempt and have nothing left to run; the next one has.
      const bool has_work = scheduler_.num_running() + scheduler_.num_waiting() > 0;
      if (has_work && (gave_up || ++idle_plans_ <= kMostIdlePlans)) continue;
      if (feed_.NextArrival() != kNever) {
        SkipTo(std::max(now_s_, feed_.NextArrival()));
        continue;
      }
      if (!has_work) return Status();
      return Internal("simulator: at {} s nothing is planned for {} running and {} waiting sequences", now_s_,
                      scheduler_.num_running(), scheduler_.num_waiting());
    }
  }

  SimulationResult TakeResult() {
    SimulationResult result;
    result.summary = Summarize(log_.outcomes(), workload_.tenants().size(), options_.objectives);
    result.summary.steps = scheduler_.counters().steps;
    result.summary.recomputed_tokens = scheduler_.counters().recomputed_tokens;
    result.summary.mean_running = timeline_.mean_running();
    result.summary.pages = timeline_.pages();
    const FairShare& fair = scheduler_.fair_share();
    result.summary.fairness = {
        .largest_gap = fair.largest_gap(), .bound = fair.bound(), .violations = fair.num_violations()};
    result.outcomes = log_.TakeOutcomes();
    result.timeline = std::move(timeline_);
    return result;
  }

 private:
  static constexpr int kMostIdlePlans = 3;

  void SubmitArrivals() {
    while (feed_.NextArrival() <= now_s_) {
      const double arrival_s = feed_.NextArrival();
      const int64_t index = feed_.Take();
      const WorkloadRequest& request = workload_.request(index);
      RequestSpec spec{.prompt = feed_.TakePrompt(index),
                       .max_tokens = request.max_tokens,
                       .priority = request.priority,
                       .tenant = request.tenant,
                       .salt = static_cast<uint64_t>(request.tenant),
                       .first_token_by_s = arrival_s + options_.objectives.first_token_s,
                       .token_interval_s = options_.objectives.token_interval_s};
      log_.Arrive(index, arrival_s, static_cast<int64_t>(spec.prompt.size()));
      const Result<Sequence*> sequence = scheduler_.Submit(std::move(spec), now_s_);
      if (sequence.ok()) {
        SetRequestOf(**sequence, index);
      } else {
        EndWithout(index, EndingOf(sequence.status().code()));
      }
    }
  }

  bool GiveUp(const StepPlan& plan) {
    for (Sequence* sequence : plan.hopeless) {
      const int64_t index = RequestOf(*sequence);
      NoteService(*sequence, log_[index]);
      scheduler_.Finish(*sequence, /*completed=*/false);
      EndWithout(index, Ending::kLate);
    }
    return !plan.hopeless.empty();
  }

  void RunStep(const StepPlan& plan) {
    if (options_.on_plan) options_.on_plan(scheduler_, plan, now_s_);
    const double seconds = options_.cost.Seconds(plan.load);
    const double begin_s = now_s_;
    now_s_ += seconds;
    scheduler_.Commit(now_s_, seconds);
    LoadSample sample{.running = scheduler_.num_running(),
                      .waiting = scheduler_.num_waiting(),
                      .pages = scheduler_.page_use(),
                      .prompt_tokens = plan.load.prefill_tokens};
    for (const PlannedRows& rows : plan.rows) {
      if (!rows.wants_logits) continue;
      ++sample.output_tokens;
      TakeToken(*rows.sequence);
    }
    timeline_.Add(begin_s, now_s_, sample);
    if (options_.progress) {
      options_.progress(static_cast<double>(log_.num_ended()) / static_cast<double>(workload_.num_requests()));
    }
  }

  void TakeToken(Sequence& sequence) {
    const int64_t index = RequestOf(sequence);
    scheduler_.Append(sequence, workload_.AnswerToken(index, sequence.num_output()));
    log_.Token(index, now_s_);
    if (sequence.num_output() < workload_.request(index).output_tokens) return;
    NoteService(sequence, log_[index]);
    if (feed_.HasFollowers(index)) feed_.Complete(index, sequence.tokens, now_s_);
    scheduler_.Finish(sequence, /*completed=*/true);
    log_.End(index, Ending::kComplete, now_s_);
  }

  static void NoteService(const Sequence& sequence, RequestOutcome& outcome) {
    outcome.first_step_s = sequence.first_step_s;
    outcome.cached_tokens = sequence.cached_tokens;
    outcome.preemptions = sequence.num_preemptions;
    outcome.chunks = sequence.num_chunks;
  }

  void EndWithout(int64_t index, Ending ending) {
    log_.End(index, ending, now_s_);
    for (const int64_t follower : feed_.Drop(index)) log_.End(follower, Ending::kSkipped, now_s_);
  }

  void SkipTo(double time_s) {
    timeline_.Add(now_s_, time_s, {.waiting = scheduler_.num_waiting(), .pages = scheduler_.page_use()});
    now_s_ = time_s;
  }

  // Ids of sequences are small numbers.
  int64_t RequestOf(const Sequence& sequence) const { return requests_[static_cast<size_t>(sequence.id)]; }
  void SetRequestOf(const Sequence& sequence, int64_t index) {
    const auto id = static_cast<size_t>(sequence.id);
    if (requests_.size() <= id) requests_.resize(id + 1, -1);
    requests_[id] = index;
  }

  const Workload& workload_;
  const SimulatorOptions& options_;
  Scheduler& scheduler_;
  ArrivalFeed feed_;
  OutcomeLog log_;
  Timeline timeline_;
  std::vector<int64_t> requests_;  // by the id of their sequence
  double now_s_ = 0.0;
  int idle_plans_ = 0;
};

}  // namespace

double StepCost::Seconds(const StepLoad& load) const {
  return base_s + prefill_s * static_cast<double>(load.prefill_tokens) + decode_s * static_cast<double>(load.decodes) +
         context_s * static_cast<double>(load.context_tokens);
}

Result<StepCost> ParseStepCost(std::string_view text) {
  const std::vector<std::string_view> parts = SplitText(text, ',');
  double numbers[4] = {};
  bool valid = parts.size() == 4;
  double sum = 0.0;
  for (size_t i = 0; valid && i < 4; ++i) {
    const std::optional<double> number = ReadNumber(parts[i]);
    valid = number && *number >= 0.0 && *number <= 1e9;
    if (valid) sum += numbers[i] = *number;
  }
  if (!valid || sum <= 0.0) {
    return InvalidArgument(
        "cost '{}': it is BASE_MS,PREFILL_US,DECODE_US,CONTEXT_NS, four numbers of 0..1e9 that are not all 0",
        text.substr(0, 100));
  }
  return StepCost{.base_s = numbers[0] * 1e-3,
                  .prefill_s = numbers[1] * 1e-6,
                  .decode_s = numbers[2] * 1e-6,
                  .context_s = numbers[3] * 1e-9};
}

std::vector<Tenant> TenantsOf(const Workload& workload) {
  std::vector<Tenant> tenants;
  for (const WorkloadTenant& tenant : workload.tenants()) {
    tenants.push_back({.name = tenant.name, .weight = tenant.weight});
  }
  return tenants;
}

Result<SimulationResult> Simulate(const Workload& workload, const SimulatorOptions& options) {
  if (options.num_pages < 1) return InvalidArgument("simulator: {} pages; there is at least one", options.num_pages);
  kv::BlockPool pool(options.num_pages);
  SchedulerOptions scheduler_options = options.scheduler;
  scheduler_options.tenants = TenantsOf(workload);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<Scheduler> scheduler,
                        Scheduler::Create(std::move(scheduler_options), pool));
  Simulation simulation(workload, options, *scheduler);
  ADIT_RETURN_IF_ERROR(simulation.Run());
  SimulationResult result = simulation.TakeResult();
  scheduler->ClearPrefixCache();
  result.leaked_pages = pool.num_blocks() - pool.num_free();
  return result;
}

}  // namespace adit::sched
