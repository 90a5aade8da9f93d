#include "server/guarded_body.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "server/answer_guard.h"
#include "server/request_body.h"
#include "server/service.h"
#include "tokenizer/detokenizer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Fields in which clients send texts for models.
constexpr const char* kTextFields[] = {
    "messages",  "prompt",       "suffix",       "input",       "instructions",         "system", "tools",  "functions",
    "documents", "input_prefix", "input_suffix", "input_extra", "chat_template_kwargs", "query",  "text_1", "text_2"};

// Those that may come as token ids.
bool MayHoldIds(std::string_view field) { return field == "prompt" || field == "input"; }

bool IsIds(const OrderedJson& value) { return value.is_array() && !value.empty() && value.front().is_number_integer(); }

// Ids as the text that they stand for; unchanged where one of them is no token.
void DecodeIds(const tokenizer::Tokenizer& tokenizer, OrderedJson& value) {
  std::string text;
  tokenizer::IncrementalDetokenizer detokenizer(tokenizer, /*with_special=*/true);
  for (const OrderedJson& id : value) {
    if (!id.is_number_integer()) return;
    const auto token = id.get<int64_t>();
    if (token < 0 || token >= tokenizer.vocab_size()) return;
    text += detokenizer.Append(static_cast<int32_t>(token));
  }
  value = text + detokenizer.Finish();
}

// Texts that came as ids are replaced only where a rule changes them.
bool GuardPrompt(const guard::Rules& rules, const tokenizer::Tokenizer& tokenizer, OrderedJson& prompt,
                 std::vector<guard::Verdict>& verdicts) {
  if (IsIds(prompt)) {
    OrderedJson text = prompt;
    DecodeIds(tokenizer, text);
    const OrderedJson before = text;
    if (!GuardJson(rules, guard::Side::kInput, text, verdicts)) return false;
    if (text != before) prompt = std::move(text);
    return true;
  }
  if (!prompt.is_array()) return GuardJson(rules, guard::Side::kInput, prompt, verdicts);
  for (OrderedJson& one : prompt) {
    if (one.is_array() && !one.empty() && !IsIds(one)) continue;
    if (!GuardPrompt(rules, tokenizer, one, verdicts)) return false;
  }
  return true;
}

ApiError Blocked(const std::vector<guard::Verdict>& verdicts) {
  std::string rule;
  for (const guard::Verdict& verdict : verdicts) {
    if (verdict.rule->action == guard::Action::kBlock || verdict.gave_up) rule = verdict.rule->name;
  }
  return {.code = "content_filter", .message = fmt::format("the request is blocked by the rule '{}'", rule)};
}

}  // namespace

std::optional<ApiError> GuardBody(const guard::Rules& rules, const tokenizer::Tokenizer& tokenizer, OrderedJson& body,
                                  std::vector<guard::Verdict>& verdicts, bool& changed) {
  changed = false;
  for (const char* field : kTextFields) {
    const auto found = body.find(field);
    if (found == body.end()) continue;
    const OrderedJson before = *found;
    const bool good = MayHoldIds(field) ? GuardPrompt(rules, tokenizer, *found, verdicts)
                                        : GuardJson(rules, guard::Side::kInput, *found, verdicts);
    if (!good) return Blocked(verdicts);
    changed = changed || *found != before;
  }
  return std::nullopt;
}

std::variant<nlohmann::json, ApiError> ReadGuardedBody(Call& call) {
  std::variant<nlohmann::json, ApiError> read = ReadBody(call.request);
  const guard::Rules* const rules = call.service.guard().get();
  if (rules == nullptr || !rules->Any(guard::Side::kInput) || std::holds_alternative<ApiError>(read)) return read;
  // In the order of its members, for schemas and tools.
  OrderedJson body = OrderedJson::parse(call.request.body);
  bool changed = false;
  if (auto error = GuardBody(*rules, call.model->api().tokenizer, body, call.record->verdicts, changed); error) {
    return *std::move(error);
  }
  if (!changed) return read;
  call.request.body = body.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
  return nlohmann::json::parse(call.request.body);
}

std::optional<ApiError> CheckGuarded(const ApiRequest& request, const guard::Rules& rules) {
  if (!rules.Changes(guard::Side::kOutput)) return std::nullopt;
  const char* param = request.logprobs ? "logprobs" : request.token_ids ? "return_token_ids" : nullptr;
  if (param == nullptr) return std::nullopt;
  return ApiError{.code = "unsupported_parameter",
                  .message = fmt::format("'{}' is not supported here: rules of this server redact answers", param),
                  .param = param};
}

}  // namespace adit::server
