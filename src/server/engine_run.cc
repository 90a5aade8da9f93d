#include "server/engine_run.h"

#include <optional>
#include <utility>

namespace adit::server {

std::optional<ApiError> CompileConstraint(engine::Engine& engine, ApiRequest& request) {
  if (!request.constraint || request.generation.grammar != nullptr) return std::nullopt;
  Result<GrammarPtr> grammar = engine.model().grammars().Compile(request.constraint->spec);
  if (!grammar.ok()) return ErrorOfConstraint(*request.constraint, grammar.status());
  request.generation.grammar = std::move(grammar).value();
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
    run.parts_.push_back({.handle = std::move(handle)});
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
      answer.Take(i, *std::move(event));
      if (kind == engine::Event::Kind::kDone || kind == engine::Event::Kind::kError) {
        part.ended = true;
        ++num_ended_;
      } else if (!part.cancelled && answer.complete(i)) {
        part.cancelled = true;
        part.handle.Cancel();
      }
    }
  }
  if (answer.error()) Cancel();
  return num_ended_ == parts_.size();
}

void EngineRun::Cancel() {
  for (Part& part : parts_) {
    if (part.ended || part.cancelled) continue;
    part.cancelled = true;
    part.handle.Cancel();
  }
}

}  // namespace adit::server
