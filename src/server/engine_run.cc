#include "server/engine_run.h"

#include <optional>
#include <utility>

#include "server/thinking_budget.h"

namespace adit::server {

std::optional<ApiError> CompileConstraint(engine::Engine& engine, ApiRequest& request) {
  GrammarPtr& present = request.generation.grammar;
  if (!request.constraint || (present != nullptr && !IsBudgetAlone(present))) return std::nullopt;
  Result<GrammarPtr> grammar = engine.model().grammars().Compile(request.constraint->spec);
  if (!grammar.ok()) return ErrorOfConstraint(*request.constraint, grammar.status());
  present = WithThinkingBudget(present, std::move(grammar).value());
  return std::nullopt;
}

Result<EngineRun> EngineRun::Submit(engine::Engine& engine, ApiRequest& request, std::function<void()> on_ready) {
  EngineRun run;
  if (const auto error = CompileConstraint(engine, request); error) {
    return Status(StatusCode::kInvalidArgument, error->message);
  }
  run.parts_.reserve(request.num_prompts());
  std::vector<engine::GenerationRequest> generations;
  generations.push_back(request.generation);
  request.generation.prompt.clear();
  for (std::vector<int32_t>& prompt : request.more_prompts) {
    generations.push_back(request.generation);
    generations.back().prompt = std::move(prompt);
  }
  for (engine::GenerationRequest& generation : generations) {
    // Parts before one that is refused are cancelled as the run dies.
    ADIT_ASSIGN_OR_RETURN(engine::RequestHandle handle, engine.Submit(std::move(generation), on_ready));
    run.parts_.push_back({.handle = std::move(handle),
                          .ended_answers = std::vector<bool>(static_cast<size_t>(request.generation.num_answers))});
  }
  return run;
}

bool EngineRun::Read(ApiAnswer& answer, size_t max_events) {
  has_more_ = false;
  size_t num_read = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    while (!part.ended) {
      if (num_read >= max_events) {
        has_more_ = true;
        return false;
      }
      std::optional<engine::Event> event = part.handle.TryNext();
      if (!event) break;
      ++num_read;
      num_events_ += event->kind == engine::Event::Kind::kToken ? 1 : 0;
      const engine::Event::Kind kind = event->kind;
      const int32_t which = event->answer;
      answer.Take(i, *std::move(event));
      if (kind == engine::Event::Kind::kDone || kind == engine::Event::Kind::kError) {
        part.ended = true;
        ++num_ended_;
      } else if (!part.cancelled) {
        CancelComplete(i, which, answer, part);
      }
    }
  }
  if (answer.error()) Cancel();
  return num_ended_ == parts_.size();
}

// What the engine still computes of an answer that has met a stop string is of no use.
void EngineRun::CancelComplete(size_t index, int32_t answer, const ApiAnswer& all, Part& part) {
  if (all.complete(index)) {
    part.cancelled = true;
    return part.handle.Cancel();
  }
  const size_t first = index * part.ended_answers.size();
  const auto which = static_cast<size_t>(answer);
  if (part.ended_answers[which] || all.choice(first + which).finish_reason() == nullptr) return;
  part.ended_answers[which] = true;
  if (!all.choice(first + which).has_stats()) part.handle.CancelAnswer(answer);
}

void EngineRun::Cancel() {
  for (Part& part : parts_) {
    if (part.ended || part.cancelled) continue;
    part.cancelled = true;
    part.handle.Cancel();
  }
}

}  // namespace adit::server
