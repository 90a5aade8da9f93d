// OpenAI's /v1/moderations: what the rules of the deployment make of texts.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "guard/guard_stream.h"
#include "server/answer_guard.h"
#include "server/answer_writer.h"
#include "server/json_fields.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr size_t kMaxInputs = 2048;
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

Ordered AnswerOf(const std::string& id, const std::string& model, Ordered results) {
  return {{"id", fmt::format("modr-{}", id)}, {"model", model}, {"results", std::move(results)}};
}

}  // namespace

std::unique_ptr<Reply> Moderations(Call& call) {
  const guard::Rules* const rules = call.service.guard().get();
  if (rules == nullptr) return NotSupported(call);
  const std::variant<Json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  FieldReader fields(std::get<Json>(body));
  const std::vector<std::string> texts = ReadInputs(fields, kMaxInputs);
  const std::optional<std::string> asked = fields.Text("model", 0, SIZE_MAX);
  if (fields.error()) return ErrorReply(*fields.error(), *call.record);
  const std::string model = asked.value_or("rules");
  Ordered results = Ordered::array();
  for (const std::string& text : texts) {
    results.push_back(ResultOf(rules, call.service.judges(), text, *call.record));
  }
  return JsonReply(JsonText(AnswerOf(call.record->id, model, std::move(results))));
}

}  // namespace adit::server
