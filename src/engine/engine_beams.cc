// The part of EngineCore that serves beam search.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "engine/engine_core.h"
#include "sample/likeliest.h"

namespace adit::engine {

void EngineCore::NoteBeamCandidates(const sched::Sequence& sequence, std::span<const float> logits) {
  ActiveRequest& request = *static_cast<ActiveAnswer*>(sequence.owner)->request;
  const int64_t wanted = request.beam_search()->num_candidates();
  std::vector<sample::TokenLogprob>& candidates = beam_candidates_[&sequence];
  if (sequence.num_output() >= request.request().min_tokens) {
    candidates = sample::LikeliestTokens(logits, wanted);
  } else {
    candidates = sample::LikeliestTokens(logits, wanted + request.num_end_tokens());
    std::erase_if(candidates, [&](const sample::TokenLogprob& token) { return request.IsEndToken(token.id); });
    candidates.resize(std::min(candidates.size(), static_cast<size_t>(wanted)));
  }
  if (std::find(beam_requests_.begin(), beam_requests_.end(), &request) == beam_requests_.end()) {
    beam_requests_.push_back(&request);
  }
}

// Beams run in lockstep, so all have their candidates at once.
void EngineCore::StepBeams(ActiveRequest& request, double now_s) {
  std::vector<std::vector<sample::TokenLogprob>> likeliest;
  for (const sched::Sequence* beam : request.beams) {
    auto candidates = beam_candidates_.extract(beam);
    if (candidates.mapped().empty()) {
      beam_candidates_.clear();
      Fail(request, FailedPrecondition("sample: position {}: logits are all NaN or -inf", beam->num_tokens()));
      return;
    }
    likeliest.push_back(std::move(candidates.mapped()));
  }
  AnswerStats& stats = request.answers().front().stats;
  if (stats.output_tokens++ == 0) stats.first_token_seconds = now_s - request.submitted_s;
  const std::span<const BeamSearch::Move> moves = request.beam_search()->Step(likeliest);
  if (moves.empty()) {
    EndBeams(request, FinishReason::kStop, now_s);
    return;
  }
  const std::vector<sched::Sequence*> parents = std::exchange(request.beams, {});
  std::vector<int> num_children(parents.size());
  for (const BeamSearch::Move& move : moves) ++num_children[static_cast<size_t>(move.parent)];
  for (size_t i = 0; i < parents.size(); ++i) {
    if (num_children[i] == 0) scheduler_->Finish(*parents[i], false);
  }
  // The first child goes on in its parent's sequence, but only once the others have been forked off.
  for (const BeamSearch::Move& move : moves) {
    const auto parent = static_cast<size_t>(move.parent);
    const bool is_last = --num_children[parent] == 0;
    sched::Sequence* beam = is_last ? parents[parent] : &scheduler_->Fork(*parents[parent]);
    beam->owner = &request.answers().front();
    request.beams.push_back(beam);
  }
  for (size_t i = 0; i < moves.size(); ++i) scheduler_->Append(*request.beams[i], moves[i].token);
  request.answers().front().sequence = request.beams.front();
}

void EngineCore::EndBeams(ActiveRequest& request, FinishReason reason, double now_s) {
  std::vector<ActiveAnswer>& answers = request.answers();
  AnswerStats stats = answers.front().stats;
  NoteTimes(request, request.beams.empty() ? nullptr : request.beams.front(), now_s, stats);
  for (const sched::Sequence* beam : request.beams) {
    stats.num_preemptions = std::max(stats.num_preemptions, beam->num_preemptions);
  }
  ReleaseSequences(request);
  const std::vector<BeamSearch::Answer> best = request.beam_search()->Best(answers.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    stats.reason = reason;
    stats.output_tokens = 0;
    if (i < best.size()) {
      const BeamSearch::Answer& answer = best[i];
      stats.reason = answer.reason;
      stats.output_tokens = static_cast<int64_t>(answer.tokens.size());
      stats.cumulative_logprob = answer.sum;
      stats.score = answer.score;
      stats.stop_token = answer.reason == FinishReason::kStop ? answer.tokens.back() : -1;
      for (size_t t = 0; t < answer.tokens.size(); ++t) {
        request.stream().Push({.kind = Event::Kind::kToken,
                               .answer = static_cast<int32_t>(i),
                               .token = answer.tokens[t],
                               .ends_answer = t + 1 == answer.tokens.size() && answer.reason == FinishReason::kStop,
                               .logprob = std::numeric_limits<double>::quiet_NaN()});
      }
    }
    request.stream().Push({.kind = Event::Kind::kFinished,
                           .answer = static_cast<int32_t>(i),
                           .stats = std::make_unique<AnswerStats>(stats)});
  }
  request.num_ended = answers.size();
  request.stream().Push({.kind = Event::Kind::kDone});
  ended_.push_back(&request);
}

}  // namespace adit::engine
