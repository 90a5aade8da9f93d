// OpenAI's /v1/moderations: what the rules of the deployment make of texts.
#include <fmt/core.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "guard/guard_stream.h"
#include "server/answer_guard.h"
#include "server/answer_writer.h"
#include "server/guard_model.h"
#include "server/json_fields.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr size_t kMaxInputs = 2048;
constexpr size_t kMaxJudged = 128;  // by a model
// What OpenAI's clients look for.
constexpr const char* kCategories[] = {"harassment",
                                       "harassment/threatening",
                                       "hate",
                                       "hate/threatening",
                                       "illicit",
                                       "illicit/violent",
                                       "self-harm",
                                       "self-harm/intent",
                                       "self-harm/instructions",
                                       "sexual",
                                       "sexual/minors",
                                       "violence",
                                       "violence/graphic"};

// The texts to judge; parts of one message are one text.
std::vector<std::string> ReadInputs(FieldReader& fields, size_t max_inputs) {
  std::vector<std::string> texts;
  const Json* input = fields.Find("input");
  if (input == nullptr) {
    fields.Fail("missing_required_parameter", "input", "'input' is missing");
    return texts;
  }
  if (input->is_string()) return {input->get<std::string>()};
  if (!input->is_array() || input->empty() || input->size() > max_inputs) {
    fields.Fail("invalid_value", "input", fmt::format("'input' is a text or a list of 1 to {}", max_inputs));
    return texts;
  }
  std::string parts;
  for (size_t i = 0; i < input->size(); ++i) {
    const Json& entry = (*input)[i];
    if (entry.is_string()) {
      texts.push_back(entry.get<std::string>());
    } else if (entry.is_object() && entry.value("type", Json()) == "text" && entry.value("text", Json()).is_string()) {
      if (!parts.empty()) parts += '\n';
      parts += entry["text"].get<std::string>();
    } else {
      fields.Fail("invalid_value", fmt::format("input[{}]", i), "only texts can be judged here");
      return texts;
    }
  }
  if (!parts.empty()) texts.push_back(std::move(parts));
  return texts;
}

// What rules find in a text.
Ordered ResultOf(const guard::Rules* rules, const guard::Rules& judges, const std::string& text,
                 RequestRecord& record) {
  Ordered categories = Ordered::object();
  Ordered scores = Ordered::object();
  Ordered types = Ordered::object();
  const auto add = [&](const std::string& name) {
    categories[name] = false;
    scores[name] = 0.0;
    types[name] = {"text"};
  };
  for (const char* category : kCategories) {
    add(category);
    types[category] = Ordered::array();
  }
  std::vector<guard::Verdict> verdicts;
  if (rules != nullptr) {
    for (const guard::Rule& rule : rules->rules) add(rule.name);
    for (guard::Verdict verdict : guard::GuardText(judges, guard::Side::kInput, text).verdicts) {
      // As the rule stands in the file.
      verdict.rule = &rules->rules[static_cast<size_t>(verdict.rule - judges.rules.data())];
      categories[verdict.rule->name] = true;
      scores[verdict.rule->name] = 1.0;
      verdicts.push_back(verdict);
    }
  }
  guard::AddVerdicts(verdicts, record.verdicts);
  Ordered result = {{"flagged", !verdicts.empty()},
                    {"categories", std::move(categories)},
                    {"category_scores", std::move(scores)},
                    {"category_applied_input_types", std::move(types)}};
  if (!verdicts.empty()) result["adit"] = {{"guard", VerdictsJson(verdicts)}};
  return result;
}

// What the guard model says of it, too.
void AddJudgement(const Judgement& judgement, const guard::Rule& rule, Ordered& result, RequestRecord& record) {
  const auto add = [&](const std::string& name, bool is_found) {
    result["categories"][name] = is_found;
    result["category_scores"][name] = is_found == judgement.unsafe ? judgement.score : 0.0;
    result["category_applied_input_types"][name] = {"text"};
  };
  add("unsafe", judgement.unsafe);
  if (!judgement.unsafe) return;
  for (const std::string& category : judgement.categories) add(category, true);
  result["flagged"] = true;
  guard::AddVerdicts({{.rule = &rule, .side = guard::Side::kInput, .count = 1}}, record.verdicts);
}

Ordered AnswerOf(const std::string& id, const std::string& model, Ordered results) {
  return {{"id", fmt::format("modr-{}", id)}, {"model", model}, {"results", std::move(results)}};
}

// Texts that a guard model judges as well: the answer goes out when all are judged.
class ModerationReply : public Reply {
 public:
  ModerationReply(const GuardModel& model, std::string model_name, Ordered results,
                  std::shared_ptr<RequestRecord> record)
      : model_(model),
        model_name_(std::move(model_name)),
        results_(std::move(results)),
        record_(std::move(record)),
        judgings_(results_.size()) {}

  // The error that keeps the model from judging.
  std::optional<ApiError> Begin(const std::vector<std::string>& texts, const std::function<void()>& wake) {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].empty()) continue;
      Result<std::unique_ptr<Judging>> judging = model_.Begin({{.role = "user", .content = texts[i]}}, wake);
      if (!judging.ok()) return ErrorOfEngine(judging.status());
      judgings_[i] = std::move(judging).value();
    }
    return std::nullopt;
  }

  void Advance(ReplyOutput& out, bool) override {
    bool all = true;
    for (size_t i = 0; i < judgings_.size(); ++i) {
      if (judgings_[i] == nullptr) continue;
      const std::optional<Result<Judgement>> judged = judgings_[i]->Poll();
      if (!judged) {
        all = false;
        continue;
      }
      if (!judged->ok()) return ErrorReply(ErrorOfEngine(judged->status()), *record_)->Advance(out, false);
      AddJudgement(**judged, model_.rule(), results_[i], *record_);
      judgings_[i].reset();
    }
    if (!all) return;
    out.SetHead({});
    out.body = JsonText(AnswerOf(record_->id, model_name_, std::move(results_)));
    out.done = true;
  }
  void Ended(bool) override { judgings_.clear(); }

 private:
  const GuardModel& model_;
  const std::string model_name_;
  Ordered results_;
  const std::shared_ptr<RequestRecord> record_;
  std::vector<std::unique_ptr<Judging>> judgings_;  // null: judged
};

}  // namespace

std::unique_ptr<Reply> Moderations(Call& call) {
  const guard::Rules* const rules = call.service.guard().get();
  const GuardModel* const judge = call.service.guard_model();
  if (rules == nullptr && judge == nullptr) return NotSupported(call);
  const std::variant<Json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  FieldReader fields(std::get<Json>(body));
  const std::vector<std::string> texts = ReadInputs(fields, judge == nullptr ? kMaxInputs : kMaxJudged);
  const std::optional<std::string> asked = fields.Text("model", 0, SIZE_MAX);
  if (fields.error()) return ErrorReply(*fields.error(), *call.record);
  const std::string model = asked.value_or(judge == nullptr ? "rules" : judge->options().name);
  Ordered results = Ordered::array();
  for (const std::string& text : texts) {
    results.push_back(ResultOf(rules, call.service.judges(), text, *call.record));
  }
  if (judge == nullptr) return JsonReply(JsonText(AnswerOf(call.record->id, model, std::move(results))));
  auto reply = std::make_unique<ModerationReply>(*judge, model, std::move(results), call.record);
  if (auto error = reply->Begin(texts, call.wake); error) return ErrorReply(*error, *call.record);
  return reply;
}

}  // namespace adit::server
