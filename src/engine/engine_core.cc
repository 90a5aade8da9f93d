#include "engine/engine_core.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "sample/likeliest.h"
#include "sample/softmax.h"

namespace adit::engine {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Salts that are known at a time; who comes back after so many others finds nothing cached.
constexpr size_t kMaxSalts = 65536;

ActiveAnswer& OwnerOf(const sched::Sequence& sequence) { return *static_cast<ActiveAnswer*>(sequence.owner); }

}  // namespace

EngineCore::EngineCore(const LoadedModel& model, std::unique_ptr<ModelRunner> runner)
    : model_(model), runner_(std::move(runner)), scratches_(static_cast<size_t>(model.num_threads())) {
  for (sample::SampleScratch& scratch : scratches_) scratch.Reserve(model.tokenizer().vocab_size());
}

EngineCore::~EngineCore() {
  EndAll(FinishReason::kCancelled, 0.0);
  scheduler_->ClearPrefixCache();
}

Result<std::unique_ptr<EngineCore>> EngineCore::Create(const LoadedModel& model, const EngineOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ModelRunner> runner,
                        ModelRunner::Create(model, {.kv_types = options.kv_types,
                                                    .kv_tokens = options.kv_tokens,
                                                    .max_batch_tokens = options.scheduler.max_batch_tokens,
                                                    .block_size = options.block_size}));
  sched::SchedulerOptions scheduling = options.scheduler;
  scheduling.groups = runner->page_groups();
  const int64_t longest = model.spec().context_length;
  scheduling.max_context = scheduling.max_context == 0 ? longest : std::min(scheduling.max_context, longest);
  scheduling.short_length = model.spec().ShortRopeLength();
  std::unique_ptr<EngineCore> core(new EngineCore(model, std::move(runner)));
  ADIT_ASSIGN_OR_RETURN(core->scheduler_, sched::Scheduler::Create(std::move(scheduling), core->runner_->pool()));
  return core;
}

uint64_t EngineCore::SaltOf(int32_t tenant, const std::string& salt) {
  if (salts_.size() >= kMaxSalts) salts_.clear();
  const auto [entry, is_new] = salts_.try_emplace(std::to_string(tenant) + ":" + salt, next_salt_);
  if (is_new) ++next_salt_;
  return entry->second;
}

void EngineCore::Add(std::unique_ptr<ActiveRequest> owned, double now_s) {
  ActiveRequest& request = *owned;
  requests_[request.id] = std::move(owned);
  const GenerationRequest& wanted = request.request();
  request.submitted_s = now_s;
  request.deadline_s = now_s + wanted.timeout_s;
  const bool beams = request.beam_search() != nullptr;
  sched::RequestSpec spec{.prompt = request.TakePrompt(),
                          .max_tokens = request.max_tokens(),
                          .num_sequences = beams ? wanted.beam.width : wanted.best_of,
                          .lockstep = beams,
                          .priority = wanted.priority,
                          .tenant = wanted.tenant,
                          .tenant_tokens = wanted.tenant_tokens,
                          .salt = SaltOf(wanted.tenant, wanted.cache_salt),
                          .use_prefix_cache = wanted.use_prefix_cache && !request.tells_prompt(),
                          .first_token_by_s = now_s + wanted.ttft_objective_s,
                          .token_interval_s = wanted.tpot_objective_s};
  if (request.tells_prompt()) spec.most_step_tokens = ActiveRequest::kToldRows;
  const Result<sched::Sequence*> sequence = scheduler_->Submit(std::move(spec), now_s);
  if (!sequence.ok()) {
    Fail(request, sequence.status());
    Forget(request);
    return;
  }
  ActiveAnswer& first = request.answers().front();
  first.sequence = *sequence;
  first.sequence->owner = &first;
  if (beams) request.beams = {*sequence};
}

bool EngineCore::Step(double now_s) {
  EndLate(now_s);
  ResumeReaders();
  const double start = SteadySeconds();
  const sched::StepPlan& plan = scheduler_->Plan(now_s);
  last_plan_ = &plan;
  const double planned = SteadySeconds();
  plan_seconds_ += planned - start;
  const bool some_hopeless = !plan.hopeless.empty();
  EndHopeless(plan);
  if (plan.rows.empty()) return some_hopeless;

  const std::span<const float> logits = RunModel(plan);
  const double ran = SteadySeconds();
  model_seconds_ += ran - planned;
  const double now = now_s + (ran - start);
  scheduler_->Commit(now, ran - planned);

  Choose(plan, logits);
  for (Choice& choice : choices_) {
    mask_seconds_ += choice.mask_seconds;
    TakeToken(choice, now);
  }
  for (ActiveRequest* request : beam_requests_) StepBeams(*request, now);
  while (!ended_.empty()) Forget(*ended_.back());
  sample_seconds_ += SteadySeconds() - ran;
  last_step_s_ = now;
  return true;
}

std::span<const float> EngineCore::RunModel(const sched::StepPlan& plan) {
  runner_->CopyPages(plan.copies);
  rows_.clear();
  for (const sched::PlannedRows& rows : plan.rows) {
    const sched::Sequence& sequence = *rows.sequence;
    const bool tells = rows.first_position < sequence.num_prompt && OwnerOf(sequence).request->tells_prompt();
    const std::span<const int32_t> tokens(sequence.tokens);
    rows_.push_back(
        {.tokens = tokens.subspan(static_cast<size_t>(rows.first_position), static_cast<size_t>(rows.num_tokens)),
         .first_position = rows.first_position,
         .block_tables = sequence.pages.block_tables(),
         .is_long = sequence.is_long,
         .logits = tells               ? LogitsWanted::kAll
                   : rows.wants_logits ? LogitsWanted::kLast
                                       : LogitsWanted::kNone});
  }
  return runner_->Execute(rows_);
}

std::span<const float> EngineCore::LogitRow(std::span<const float> logits, size_t row) const {
  const auto row_size = static_cast<size_t>(model_.spec().vocab_size);
  // Rows of the output matrix behind the last token are padding.
  return logits.subspan(row * row_size, static_cast<size_t>(model_.tokenizer().vocab_size()));
}

// Finds who is to have a token and chooses it, without telling anybody yet.
void EngineCore::Choose(const sched::StepPlan& plan, std::span<const float> logits) {
  choices_.clear();
  beam_requests_.clear();
  size_t logit_row = 0;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const sched::PlannedRows& rows = plan.rows[i];
    if (rows_[i].logits == LogitsWanted::kNone) continue;
    ActiveAnswer& owner = OwnerOf(*rows.sequence);
    ActiveRequest& request = *owner.request;
    const auto vocab_size = static_cast<size_t>(model_.spec().vocab_size);
    if (rows_[i].logits == LogitsWanted::kAll) {
      const auto num_rows = static_cast<size_t>(rows.num_tokens);
      TellPrompt(request, rows, logits.subspan(logit_row * vocab_size, num_rows * vocab_size));
      logit_row += num_rows - 1;
    }
    if (rows.wants_logits && request.beam_search() != nullptr) {
      NoteBeamCandidates(*rows.sequence, LogitRow(logits, logit_row));
    } else if (rows.wants_logits && !request.forked) {
      for (ActiveAnswer& answer : request.answers()) choices_.push_back({.answer = &answer, .logit_row = logit_row});
    } else if (rows.wants_logits) {
      choices_.push_back({.answer = &owner, .logit_row = logit_row});
    }
    ++logit_row;
  }
  SampleAll(logits);
}

void EngineCore::SampleAll(std::span<const float> logits) {
  if (choices_.size() < 2 || scratches_.size() == 1) {
    for (Choice& choice : choices_) SampleOne(logits, choice, scratches_.front());
    return;
  }
  model_.exec_context().team.Run([&](Worker& worker) {
    const auto count = static_cast<int64_t>(choices_.size());
    sample::SampleScratch& scratch = scratches_[static_cast<size_t>(worker.index())];
    for (int64_t i; (i = worker.Claim()) < count;) SampleOne(logits, choices_[static_cast<size_t>(i)], scratch);
  });
}

// Touches nothing but the choice, its answer's sampler and grammar, and the scratch: workers choose side by side.
void EngineCore::SampleOne(std::span<const float> logits, Choice& choice, sample::SampleScratch& scratch) const {
  ActiveAnswer& answer = *choice.answer;
  ActiveRequest& request = *answer.request;
  if (request.max_tokens() == 0) return;
  // Answers that have not parted yet follow from the tokens of the first.
  const sched::Sequence& sequence = *(answer.sequence != nullptr ? answer : request.answers().front()).sequence;
  const std::span<const int32_t> tokens(sequence.tokens);
  const auto num_prompt = static_cast<size_t>(sequence.num_prompt);
  const bool before_min = answer.stats.output_tokens < request.request().min_tokens;
  std::span<const uint32_t> mask;
  if (answer.grammar) {
    const SecondsAdder adder(choice.mask_seconds);
    const Result<std::span<const uint32_t>> allowed =
        answer.grammar->Mask(/*may_end=*/!before_min && !request.request().ignore_eos);
    if (!allowed.ok()) {
      choice.token = allowed.status();
      return;
    }
    mask = *allowed;
  }
  sample::Sampler& sampler = before_min && answer.sampler_before_min ? *answer.sampler_before_min : *answer.sampler;
  sampler.UseScratch(scratch);
  choice.token = sampler.Sample(LogitRow(logits, choice.logit_row), tokens.first(num_prompt),
                                tokens.subspan(num_prompt), sequence.num_tokens(), answer.sampler_state, mask);
  if (!answer.grammar || !choice.token.ok()) return;
  const SecondsAdder adder(choice.mask_seconds);
  const Result<bool> ends = answer.grammar->Accept(choice.token->id);
  if (!ends.ok()) {
    choice.token = ends.status();
  } else {
    choice.ends_grammar = *ends;
  }
}

// Tells the log probabilities of the prompt tokens that follow those in `rows`, once each.
void EngineCore::TellPrompt(ActiveRequest& request, const sched::PlannedRows& rows, std::span<const float> logits) {
  const auto& tokens = rows.sequence->tokens;
  const auto tell = [&](int64_t position, double logprob, std::vector<sample::TokenLogprob> top) {
    request.stream().Push({.kind = Event::Kind::kPromptToken,
                           .token = tokens[static_cast<size_t>(position)],
                           .logprob = logprob,
                           .top = std::move(top)});
    ++request.num_prompt_told;
  };
  if (request.num_prompt_told == 0) tell(0, kNaN, {});
  for (int64_t i = 0; i < rows.num_tokens; ++i) {
    const int64_t next = rows.first_position + i + 1;
    if (next != request.num_prompt_told || next >= rows.sequence->num_prompt) continue;
    const std::span<const float> row = LogitRow(logits, static_cast<size_t>(i));
    const sample::BestLogit best = sample::FindBest(row);
    const float logit = row[static_cast<size_t>(tokens[static_cast<size_t>(next)])];
    tell(next, best.index < 0 ? kNaN : sample::LogSoftmax(row, best)(logit),
         sample::LikeliestTokens(row, request.request().prompt_logprobs));
  }
  PauseIfFull(request);
}

// The answers of a request part: each gets a sequence of its own with the prompt's pages.
void EngineCore::ForkAnswers(ActiveRequest& request) {
  request.forked = true;
  std::vector<ActiveAnswer>& answers = request.answers();
  for (size_t i = 1; i < answers.size(); ++i) {
    answers[i].sequence = &scheduler_->Fork(*answers.front().sequence);
    answers[i].sequence->owner = &answers[i];
  }
}

void EngineCore::TakeToken(Choice& choice, double now_s) {
  ActiveAnswer& answer = *choice.answer;
  ActiveRequest& request = *answer.request;
  if (!choice.token.ok()) {
    if (request.num_ended < request.answers().size()) Fail(request, choice.token.status());
    return;
  }
  if (!request.forked && request.num_ended == 0) ForkAnswers(request);
  if (answer.sequence == nullptr) return;  // the request has failed in this very step
  if (request.max_tokens() == 0) {
    EndAnswer(answer, FinishReason::kLength, now_s);
    return;
  }
  const sample::SampledToken& token = *choice.token;
  AnswerStats& stats = answer.stats;
  if (stats.output_tokens++ == 0) stats.first_token_seconds = now_s - request.submitted_s;
  stats.cumulative_logprob += token.logprob;
  scheduler_->Append(*answer.sequence, token.id);
  answer.sampler_state = token.state;
  std::optional<FinishReason> reason = request.EndsAnswer(token.id, stats.output_tokens);
  const bool is_end_token = reason == FinishReason::kStop;
  if (is_end_token) stats.stop_token = token.id;
  if (choice.ends_grammar) reason = FinishReason::kStop;
  Event event{.kind = Event::Kind::kToken,
              .answer = answer.index,
              .token = token.id,
              .ends_answer = is_end_token,
              .logprob = token.logprob,
              .top = {token.top.begin(), token.top.end()}};
  if (request.request().best_of > request.request().num_answers) {
    answer.held.push_back(std::move(event));
  } else {
    request.stream().Push(std::move(event));
  }
  if (reason) {
    EndAnswer(answer, *reason, now_s);
  } else {
    PauseIfFull(request);
  }
}

void EngineCore::EndAnswer(ActiveAnswer& answer, FinishReason reason, double now_s) {
  ActiveRequest& request = *answer.request;
  AnswerStats& stats = answer.stats;
  // One that has not begun has had the part of the first.
  const sched::Sequence* sequence = answer.sequence;
  if (sequence == nullptr && !request.forked) sequence = request.answers().front().sequence;
  stats.reason = reason;
  NoteTimes(request, sequence, now_s, stats);
  if (answer.sequence != nullptr) {
    stats.num_preemptions = answer.sequence->num_preemptions;
    const bool completed = reason == FinishReason::kStop || reason == FinishReason::kLength;
    // The first of answers that have not parted is needed by the others.
    if (request.forked || answer.index > 0 || request.num_ended + 1 == request.answers().size()) {
      scheduler_->Finish(*answer.sequence, completed);
      answer.sequence = nullptr;
    }
  }
  ++request.num_ended;
  const bool all_ended = request.num_ended == request.answers().size();
  const bool held = request.request().best_of > request.request().num_answers;
  if (!held) {
    request.stream().Push(
        {.kind = Event::Kind::kFinished, .answer = answer.index, .stats = std::make_unique<AnswerStats>(stats)});
  }
  if (!all_ended) return;
  if (held) TellBestOf(request);
  request.stream().Push({.kind = Event::Kind::kDone});
  ended_.push_back(&request);
}

// How an answer that ends now was served, by the sequence that it is or was a part of; null when it had none.
void EngineCore::NoteTimes(const ActiveRequest& request, const sched::Sequence* sequence, double now_s,
                           AnswerStats& stats) {
  stats.prompt_tokens = request.num_prompt();
  stats.total_seconds = now_s - request.submitted_s;
  stats.queue_seconds = stats.total_seconds;
  if (sequence == nullptr || sequence->first_step_s == sched::kNever) return;
  stats.cached_tokens = sequence->cached_tokens;
  stats.num_chunks = sequence->num_chunks;
  stats.queue_seconds = sequence->first_step_s - request.submitted_s;
}

// The likeliest answers, by the mean log probability of their tokens.
void EngineCore::TellBestOf(ActiveRequest& request) {
  std::vector<ActiveAnswer*> order;
  for (ActiveAnswer& answer : request.answers()) {
    answer.stats.score =
        answer.stats.cumulative_logprob / static_cast<double>(std::max<int64_t>(1, answer.stats.output_tokens));
    order.push_back(&answer);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const ActiveAnswer* a, const ActiveAnswer* b) { return a->stats.score > b->stats.score; });
  for (int32_t i = 0; i < request.request().num_answers; ++i) {
    ActiveAnswer& answer = *order[static_cast<size_t>(i)];
    for (Event& event : answer.held) {
      event.answer = i;
      request.stream().Push(std::move(event));
    }
    request.stream().Push(
        {.kind = Event::Kind::kFinished, .answer = i, .stats = std::make_unique<AnswerStats>(answer.stats)});
  }
}

void EngineCore::ReleaseSequences(ActiveRequest& request) {
  for (sched::Sequence* beam : request.beams) scheduler_->Finish(*beam, false);
  if (request.beams.empty()) {
    for (ActiveAnswer& answer : request.answers()) {
      if (answer.sequence != nullptr) scheduler_->Finish(*answer.sequence, false);
    }
  }
  request.beams.clear();
  for (ActiveAnswer& answer : request.answers()) answer.sequence = nullptr;
}

void EngineCore::Fail(ActiveRequest& request, Status status) {
  ReleaseSequences(request);
  request.forked = true;
  request.num_ended = request.answers().size();
  request.stream().Push({.kind = Event::Kind::kError, .status = std::move(status)});
  ended_.push_back(&request);
}

void EngineCore::Forget(ActiveRequest& request) {
  std::erase(ended_, &request);
  std::erase(paused_, request.id);
  requests_.erase(request.id);
}

void EngineCore::End(int64_t request_id, FinishReason reason, double now_s) {
  const auto found = requests_.find(request_id);
  if (found == requests_.end()) return;
  ActiveRequest& request = *found->second;
  ++(reason == FinishReason::kDeadline ? missed_deadlines_ : cancelled_);
  if (request.beam_search() != nullptr) {
    EndBeams(request, reason, now_s);
  } else {
    // The first last: the others may still need to look at it.
    for (size_t i = request.answers().size(); i-- > 0;) {
      ActiveAnswer& answer = request.answers()[i];
      if (answer.sequence != nullptr || !request.forked) EndAnswer(answer, reason, now_s);
    }
  }
  Forget(request);
}

void EngineCore::EndOne(int64_t request_id, int32_t answer, FinishReason reason, double now_s) {
  const auto found = requests_.find(request_id);
  if (found == requests_.end()) return;
  ActiveRequest& request = *found->second;
  const bool is_alone =
      request.forked && request.beam_search() == nullptr && request.request().best_of <= request.request().num_answers;
  if (!is_alone || answer < 0 || static_cast<size_t>(answer) >= request.answers().size()) return;
  ActiveAnswer& one = request.answers()[static_cast<size_t>(answer)];
  if (one.sequence == nullptr) return;
  EndAnswer(one, reason, now_s);
  if (request.num_ended == request.answers().size()) Forget(request);
}

void EngineCore::EndAll(FinishReason reason, double now_s) {
  while (!requests_.empty()) End(requests_.begin()->first, reason, now_s);
}

void EngineCore::EndLate(double now_s) {
  if (next_deadline_s() > now_s) return;
  std::vector<int64_t> late;
  for (const auto& [id, request] : requests_) {
    if (request->deadline_s <= now_s) late.push_back(id);
  }
  for (const int64_t id : late) End(id, FinishReason::kDeadline, now_s);
}

double EngineCore::next_deadline_s() const {
  double next = sched::kNever;
  for (const auto& [id, request] : requests_) next = std::min(next, request->deadline_s);
  return next;
}

void EngineCore::EndHopeless(const sched::StepPlan& plan) {
  for (sched::Sequence* sequence : plan.hopeless) {
    ActiveRequest& request = *OwnerOf(*sequence).request;
    ++missed_deadlines_;
    Fail(request, DeadlineExceeded("the first token was due {:.3f} s after submission; the queue was longer",
                                   request.request().ttft_objective_s));
    Forget(request);
  }
}

void EngineCore::PauseIfFull(ActiveRequest& request) {
  if (request.paused || request.request().best_of > request.request().num_answers) return;
  if (request.stream().HasRoom(request.events_per_step())) return;
  request.paused = true;
  paused_.push_back(request.id);
  for (ActiveAnswer& answer : request.answers()) {
    if (answer.sequence != nullptr) scheduler_->SetPaused(*answer.sequence, true);
  }
}

void EngineCore::ResumeReaders() {
  for (size_t i = paused_.size(); i-- > 0;) {
    ActiveRequest& request = *requests_.at(paused_[i]);
    if (!request.stream().HasRoom(request.events_per_step())) continue;
    request.paused = false;
    paused_.erase(paused_.begin() + static_cast<std::ptrdiff_t>(i));
    for (ActiveAnswer& answer : request.answers()) {
      if (answer.sequence != nullptr) scheduler_->SetPaused(*answer.sequence, false);
    }
  }
}

EngineStats EngineCore::stats() const {
  return {.num_running = scheduler_->num_running(),
          .num_waiting = scheduler_->num_waiting(),
          .num_held_back = scheduler_->num_held_back(),
          .num_requests = static_cast<int64_t>(requests_.size()),
          .num_paused = static_cast<int64_t>(paused_.size()),
          .scheduler = scheduler_->counters(),
          .prefix_cache = scheduler_->prefix_tree().stats(),
          .page_times = scheduler_->prefix_tree().page_times(),
          .pages = scheduler_->page_use(),
          .fairness_gap = scheduler_->fair_share().gap(),
          .fairness_bound = scheduler_->fair_share().bound(),
          .cancelled = cancelled_,
          .missed_deadlines = missed_deadlines_,
          .plan_seconds = plan_seconds_,
          .model_seconds = model_seconds_,
          .sample_seconds = sample_seconds_,
          .mask_seconds = mask_seconds_,
          .work = runner_->work(),
          .op_seconds = runner_->op_seconds(),
          .last_step_s = last_step_s_,
          .queue_seconds = scheduler_->EstimatedQueueSeconds()};
}

}  // namespace adit::engine
