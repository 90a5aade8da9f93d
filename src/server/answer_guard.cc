#include "server/answer_guard.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Kind = OutputDelta::Kind;

// Arguments of a call that are nested deeper are passed by as one text.
constexpr int kMaxArgumentDepth = 64;

bool GuardText(const guard::Rules& rules, guard::Side side, std::string& text, std::vector<guard::Verdict>& verdicts) {
  guard::Guarded guarded = guard::GuardText(rules, side, text);
  guard::AddVerdicts(guarded.verdicts, verdicts);
  if (guarded.blocked) return false;
  text = std::move(guarded.text);
  return true;
}

// Members whose texts are names of the interface, not what people wrote.
bool IsName(const std::string& key) {
  for (const char* name : {"role", "type", "id", "call_id", "tool_call_id", "tool_use_id"}) {
    if (key == name) return true;
  }
  return false;
}

// Precondition: the value is not deeper than parsers here allow.
bool GuardValue(const guard::Rules& rules, guard::Side side, OrderedJson& value,
                std::vector<guard::Verdict>& verdicts) {
  if (value.is_string()) return GuardText(rules, side, value.get_ref<std::string&>(), verdicts);
  if (value.is_array()) {
    return std::all_of(value.begin(), value.end(),
                       [&](OrderedJson& entry) { return GuardValue(rules, side, entry, verdicts); });
  }
  if (!value.is_object()) return true;
  for (auto& [key, member] : value.items()) {
    if (IsName(key) && member.is_string()) continue;
    // A call's arguments are JSON in a text.
    const bool is_json = key == "arguments" && member.is_string();
    const bool good = is_json ? GuardJsonText(rules, side, member.get_ref<std::string&>(), verdicts)
                              : GuardValue(rules, side, member, verdicts);
    if (!good) return false;
  }
  return true;
}

}  // namespace

void AnswerGuard::Take(const std::vector<OutputDelta>& deltas, std::vector<OutputDelta>& out) {
  for (const OutputDelta& delta : deltas) {
    if (blocked_) return;
    if (delta.kind == Kind::kToolCall) {
      TakeCall(delta, out);
      continue;
    }
    const bool is_content = delta.kind == Kind::kContent;
    guard::GuardStream& stream = is_content ? content_ : thoughts_;
    guard::GuardStream& other = is_content ? thoughts_ : content_;
    std::string text;
    // What is said in between does not wait for what comes behind.
    other.Flush(text);
    AddText(is_content ? Kind::kReasoning : Kind::kContent, text, out);
    text.clear();
    stream.Append(delta.text, text);
    AddText(delta.kind, text, out);
    blocked_ = stream.blocked();
  }
}

void AnswerGuard::Flush(std::vector<OutputDelta>& out) {
  std::string text;
  thoughts_.Flush(text);
  AddText(Kind::kReasoning, text, out);
  text.clear();
  content_.Flush(text);
  AddText(Kind::kContent, text, out);
}

void AnswerGuard::TakeCall(const OutputDelta& call, std::vector<OutputDelta>& out) {
  Flush(out);
  blocked_ = content_.blocked() || thoughts_.blocked();
  if (blocked_) return;
  OutputDelta passed = call;
  blocked_ = !GuardJsonText(rules_, guard::Side::kOutput, passed.text, of_calls_);
  if (!blocked_) out.push_back(std::move(passed));
}

void AnswerGuard::Finish(std::vector<OutputDelta>& out) {
  if (blocked_) return;
  std::string text;
  thoughts_.Finish(text);
  AddText(Kind::kReasoning, text, out);
  blocked_ = thoughts_.blocked();
  if (blocked_) return;
  text.clear();
  content_.Finish(text);
  AddText(Kind::kContent, text, out);
  blocked_ = content_.blocked();
}

std::vector<guard::Verdict> AnswerGuard::verdicts() const {
  std::vector<guard::Verdict> all = content_.verdicts();
  guard::AddVerdicts(thoughts_.verdicts(), all);
  guard::AddVerdicts(of_calls_, all);
  return all;
}

bool GuardJsonText(const guard::Rules& rules, guard::Side side, std::string& text,
                   std::vector<guard::Verdict>& verdicts) {
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, OrderedJson::parse_event_t, OrderedJson&) {
    too_deep = too_deep || depth > kMaxArgumentDepth;
    return !too_deep;
  };
  OrderedJson value = OrderedJson::parse(text, watch, /*allow_exceptions=*/false);
  if (too_deep || value.is_discarded()) return GuardText(rules, side, text, verdicts);
  const OrderedJson before = value;
  if (!GuardValue(rules, side, value, verdicts)) return false;
  // Left as it was written where nothing was found.
  if (value != before) text = value.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
  return true;
}

bool GuardJson(const guard::Rules& rules, guard::Side side, OrderedJson& value, std::vector<guard::Verdict>& verdicts) {
  return GuardValue(rules, side, value, verdicts);
}

OrderedJson VerdictsJson(const std::vector<guard::Verdict>& verdicts) {
  OrderedJson list = OrderedJson::array();
  for (const guard::Verdict& verdict : verdicts) {
    OrderedJson told = {{"rule", verdict.rule->name},
                        {"kind", verdict.rule->kind},
                        {"action", guard::ActionName(verdict.rule->action)},
                        {"side", guard::SideName(verdict.side)},
                        {"count", verdict.count}};
    if (verdict.gave_up) told["gave_up"] = true;
    list.push_back(std::move(told));
  }
  return list;
}

}  // namespace adit::server
