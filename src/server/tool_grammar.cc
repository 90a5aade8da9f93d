#include "server/tool_grammar.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "grammar/schema_check.h"

namespace adit::server {
namespace {

using Json = nlohmann::ordered_json;

// What a syntax puts around the arguments of a call, and around and between calls.
struct CallLayout {
  const char* begin;      // then the name as JSON
  const char* arguments;  // then the arguments
  const char* end;
  const char* separator;
  const char* open;  // of all calls together
  const char* close;
  const char* trigger;  // what text that goes on to a call has come to; null: calls are the whole text
};

constexpr CallLayout kHermes = {
    "<tool_call>\n{\"name\": ", ", \"arguments\": ", "}\n</tool_call>", "\n", "", "", "<tool_call>"};
constexpr CallLayout kLlama3 = {"{\"name\": ", ", \"parameters\": ", "}", "; ", "", "", nullptr};
constexpr CallLayout kMistral = {"{\"name\": ", ", \"arguments\": ", "}", ", ", "[TOOL_CALLS][", "]", "[TOOL_CALLS]"};

constexpr CallLayout kGranite = {"{\"name\": ", ", \"arguments\": ", "}", ", ", "<|tool_call|>[", "]", "<|tool_call|>"};

const CallLayout* LayoutOf(ToolSyntax syntax) {
  switch (syntax) {
    case ToolSyntax::kHermes:
      return &kHermes;
    case ToolSyntax::kLlama3:
      return &kLlama3;
    case ToolSyntax::kMistral:
      return &kMistral;
    case ToolSyntax::kGranite:
      return &kGranite;
    default:
      return nullptr;
  }
}

// The schema that a call's arguments are held to, checked.
Result<Json> ArgumentsOf(const CallableTool& tool) {
  const std::string schema =
      tool.parameters.empty() ? R"({"type":"object","properties":{},"additionalProperties":false})" : tool.parameters;
  const Result<std::string> checked = grammar::CheckSchema(schema);
  if (checked.ok()) return Json::parse(schema);
  if (tool.strict) return checked.status();
  // Nobody has asked for more than a call that can be read.
  return Json{{"type", "object"}};
}

Result<Json> CallTags(const ToolGrammarWish& wish, const CallLayout& layout, std::string& param) {
  Json tags = Json::array();
  for (const CallableTool& tool : wish.tools) {
    Result<Json> schema = ArgumentsOf(tool);
    if (!schema.ok()) {
      param = tool.param;
      return schema.status();
    }
    const std::string name = Json(tool.name).dump(-1, ' ', false, Json::error_handler_t::replace);
    tags.push_back({{"type", "tag"},
                    {"begin", layout.begin + name + layout.arguments},
                    {"content", {{"type", "json_schema"}, {"json_schema", *std::move(schema)}}},
                    {"end", layout.end}});
  }
  return tags;
}

Json Calls(Json tags, const CallLayout& layout, bool parallel) {
  return {{"type", "tags_with_separator"},
          {"tags", std::move(tags)},
          {"separator", layout.separator},
          {"at_least_one", true},
          {"stop_after_first", !parallel}};
}

// All calls with what opens and closes them.
Json WholeCalls(Json tags, const CallLayout& layout, bool parallel) {
  Json calls = Calls(std::move(tags), layout, parallel);
  if (*layout.open == '\0') return calls;
  return {{"type", "tag"}, {"begin", layout.open}, {"content", std::move(calls)}, {"end", layout.close}};
}

// A constraint on text as a part of a structural tag.
Json FormatOf(const GrammarSpec& spec) {
  switch (spec.kind) {
    case GrammarKind::kJsonSchema:
      return {{"type", "json_schema"}, {"json_schema", Json::parse(spec.text, nullptr, false)}};
    case GrammarKind::kJsonObject:
      return {{"type", "json_schema"}, {"json_schema", {{"type", "object"}}}};
    case GrammarKind::kRegex:
      return {{"type", "regex"}, {"pattern", spec.text}};
    case GrammarKind::kEbnf:
      return {{"type", "grammar"}, {"grammar", spec.text}};
    case GrammarKind::kChoice: {
      Json choices = Json::array();
      for (const Json& choice : Json::parse(spec.text, nullptr, false)) {
        choices.push_back({{"type", "const_string"}, {"value", choice}});
      }
      return {{"type", "or"}, {"elements", std::move(choices)}};
    }
    case GrammarKind::kStructuralTag:
      break;
  }
  const Json tag = Json::parse(spec.text, nullptr, false);
  return tag.is_object() && tag.contains("format") ? tag["format"] : Json();
}

Json TextOrCalls(Json tags, const ToolGrammarWish& wish, const CallLayout& layout) {
  if (wish.text) {
    return {{"type", "or"},
            {"elements", Json::array({WholeCalls(std::move(tags), layout, wish.parallel), FormatOf(wish.text->spec)})}};
  }
  if (layout.trigger == nullptr) {
    // Text that does not begin as a call does.
    Json text = {
        {"type", "sequence"},
        {"elements", Json::array({Json{{"type", "regex"}, {"pattern", "[^{<\\s]"}}, Json{{"type", "any_text"}}})}};
    return {{"type", "or"}, {"elements", Json::array({WholeCalls(std::move(tags), layout, wish.parallel), text})}};
  }
  const bool is_one = *layout.open != '\0';
  return {{"type", "triggered_tags"},
          {"triggers", Json::array({layout.trigger})},
          {"tags", is_one ? Json::array({WholeCalls(std::move(tags), layout, wish.parallel)}) : std::move(tags)},
          {"at_least_one", false},
          {"stop_after_first", is_one || !wish.parallel}};
}

}  // namespace

bool HasToolGrammar(ToolSyntax syntax) { return LayoutOf(syntax) != nullptr; }

Result<Constraint> MakeToolGrammar(const ToolGrammarWish& wish, std::string& param) {
  const CallLayout* layout = LayoutOf(wish.syntax);
  if (layout == nullptr) return Unsupported("calls as this model writes them cannot be held to a grammar yet");
  ADIT_ASSIGN_OR_RETURN(Json tags, CallTags(wish, *layout, param));
  Json format = wish.calls == CallWish::kMust ? WholeCalls(std::move(tags), *layout, wish.parallel)
                                              : TextOrCalls(std::move(tags), wish, *layout);
  const Json tag = {{"type", "structural_tag"}, {"format", std::move(format)}};
  return Constraint{.spec = {.kind = GrammarKind::kStructuralTag,
                             .text = tag.dump(-1, ' ', false, Json::error_handler_t::replace),
                             .with_marks = true},
                    .param = "tools"};
}

}  // namespace adit::server
