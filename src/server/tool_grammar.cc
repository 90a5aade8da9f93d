#include "server/tool_grammar.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "grammar/schema_check.h"
#include "server/literal_grammar.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What a syntax puts around the arguments of a call, and around and between calls.
struct CallLayout {
  const char* begin;      // then the name, as JSON where `quoted`
  const char* arguments;  // then the arguments
  const char* end;
  const char* separator;
  const char* open;  // of all calls together
  const char* close;
  const char* trigger;  // what text that goes on to a call has come to; null: calls are the whole text
  bool quoted = true;
  const char* numbered = nullptr;  // a call begins with this and a number; null: it does not
  const char* text = nullptr;      // a pattern of what text that is no call begins with, where it has no trigger
};

constexpr CallLayout kHermes = {
    "<tool_call>\n{\"name\": ", ", \"arguments\": ", "}\n</tool_call>", "\n", "", "", "<tool_call>"};
constexpr CallLayout kLlama3 = {"{\"name\": ", ", \"parameters\": ", "}",     "; ",      "", "",
                                nullptr,       /*quoted=*/true,      nullptr, "[^{<\\s]"};
constexpr CallLayout kMistral = {"{\"name\": ", ", \"arguments\": ", "}", ", ", "[TOOL_CALLS][", "]", "[TOOL_CALLS]"};
constexpr CallLayout kGranite = {"{\"name\": ", ", \"arguments\": ", "}", ", ", "<|tool_call|>[", "]", "<|tool_call|>"};
constexpr CallLayout kCommandR = {
    "\", \"tool_name\": ", ", \"parameters\": ",   "}", ",\n    ", "<|START_ACTION|>[\n    ",
    "\n]<|END_ACTION|>",   "<|START_ACTION|>",
    /*quoted=*/true,       "{\"tool_call_id\": \""};
// V3 and R1 write a kind and the arguments as a block of code, and a line end between calls; V3.1 does not.
constexpr CallLayout kDeepSeek = {"<｜tool▁call▁begin｜>",  "<｜tool▁sep｜>",       "<｜tool▁call▁end｜>",    "",
                                  "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>",
                                  /*quoted=*/false};
constexpr CallLayout kDeepSeekV3[] = {{"<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n",
                                       "\n```<｜tool▁call▁end｜>", "", "", "", nullptr, false},
                                      {"<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n",
                                       "\n```<｜tool▁call▁end｜>\n", "", "", "", nullptr, false}};
// The token behind the arguments ends the generation.
constexpr CallLayout kHarmony = {"<|channel|>commentary to=functions.",
                                 " <|constrain|>json<|message|>",
                                 "",
                                 "",
                                 "",
                                 "",
                                 "<|channel|>commentary to=functions.",
                                 /*quoted=*/false};

// Arguments of the last two are no JSON (literal_grammar.h).
constexpr CallLayout kPythonic = {"", "(", ")", ", ", "[", "]", nullptr, /*quoted=*/false, nullptr, "[^\\[<\\s]"};
constexpr CallLayout kGemma = {
    "<start_function_call>call:", "", "<end_function_call>", "", "", "", "<start_function_call>", /*quoted=*/false};

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
    case ToolSyntax::kCommandR:
      return &kCommandR;
    case ToolSyntax::kDeepSeek:
      return &kDeepSeek;
    case ToolSyntax::kHarmony:
      return &kHarmony;
    case ToolSyntax::kPythonic:
      return &kPythonic;
    case ToolSyntax::kGemma:
      return &kGemma;
    case ToolSyntax::kNone:
      break;
  }
  return nullptr;
}

std::optional<LiteralSyntax> LiteralsOf(ToolSyntax syntax) {
  if (syntax == ToolSyntax::kPythonic) return LiteralSyntax::kPython;
  if (syntax == ToolSyntax::kGemma) return LiteralSyntax::kGemma;
  return std::nullopt;
}

// What a call's arguments are held to, checked: a part of a structural tag.
Result<OrderedJson> ArgumentsOf(const CallableTool& tool, ToolSyntax syntax) {
  const std::string schema =
      tool.parameters.empty() ? R"({"type":"object","properties":{},"additionalProperties":false})" : tool.parameters;
  if (const std::optional<LiteralSyntax> literals = LiteralsOf(syntax); literals) {
    Result<std::string> rules = LiteralRules(schema, *literals);
    if (!rules.ok() && !tool.strict) rules = LiteralRules(R"({"type":"object"})", *literals);
    if (!rules.ok()) return rules.status();
    return OrderedJson{{"type", "grammar"}, {"grammar", *rules}};
  }
  const Result<std::string> checked = grammar::CheckSchema(schema);
  if (!checked.ok() && tool.strict) return checked.status();
  // Where it is not strict nobody has asked for more than a call that can be read.
  return OrderedJson{{"type", "json_schema"},
                     {"json_schema", checked.ok() ? OrderedJson::parse(schema) : OrderedJson{{"type", "object"}}}};
}

// A name that stands by itself, not as JSON.
bool IsPlainName(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
         std::string_view::npos;
}

OrderedJson ConstString(std::string text) { return {{"type", "const_string"}, {"value", std::move(text)}}; }

OrderedJson TagOf(const CallLayout& layout, const std::string& name, OrderedJson arguments) {
  const std::string written =
      layout.begin +
      (layout.quoted ? OrderedJson(name).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) : name) +
      layout.arguments;
  if (layout.numbered == nullptr) {
    return {{"type", "tag"}, {"begin", written}, {"content", std::move(arguments)}, {"end", layout.end}};
  }
  OrderedJson number = {{"type", "regex"}, {"pattern", "[0-9]{1,3}"}};
  return {
      {"type", "tag"},
      {"begin", layout.numbered},
      {"content",
       {{"type", "sequence"}, {"elements", OrderedJson::array({number, ConstString(written), std::move(arguments)})}}},
      {"end", layout.end}};
}

Result<OrderedJson> CallTags(const ToolGrammarWish& wish, const CallLayout& layout, std::string& param) {
  OrderedJson tags = OrderedJson::array();
  for (const CallableTool& tool : wish.tools) {
    Result<OrderedJson> arguments = ArgumentsOf(tool, wish.syntax);
    const bool has_dash = tool.name.find('-') != std::string::npos;
    if (!layout.quoted && (!IsPlainName(tool.name) || (has_dash && wish.syntax == ToolSyntax::kPythonic))) {
      arguments = Unsupported("the tool's name has characters that calls as this model writes them cannot have");
    }
    if (!arguments.ok()) {
      param = tool.param;
      return arguments.status();
    }
    if (wish.syntax == ToolSyntax::kDeepSeek) {
      for (const CallLayout& older : kDeepSeekV3) tags.push_back(TagOf(older, tool.name, *arguments));
    }
    tags.push_back(TagOf(layout, tool.name, *std::move(arguments)));
  }
  return tags;
}

OrderedJson Calls(OrderedJson tags, const CallLayout& layout, bool parallel) {
  return {{"type", "tags_with_separator"},
          {"tags", std::move(tags)},
          {"separator", layout.separator},
          {"at_least_one", true},
          {"stop_after_first", !parallel}};
}

// All calls with what opens and closes them.
OrderedJson WholeCalls(OrderedJson tags, const CallLayout& layout, bool parallel) {
  OrderedJson calls = Calls(std::move(tags), layout, parallel);
  if (*layout.open == '\0') return calls;
  return {{"type", "tag"}, {"begin", layout.open}, {"content", std::move(calls)}, {"end", layout.close}};
}

// A constraint on text as a part of a structural tag.
OrderedJson FormatOf(const GrammarSpec& spec) {
  switch (spec.kind) {
    case GrammarKind::kJsonSchema:
      return {{"type", "json_schema"}, {"json_schema", OrderedJson::parse(spec.text, nullptr, false)}};
    case GrammarKind::kJsonObject:
      return {{"type", "json_schema"}, {"json_schema", {{"type", "object"}}}};
    case GrammarKind::kRegex:
      return {{"type", "regex"}, {"pattern", spec.text}};
    case GrammarKind::kEbnf:
      return {{"type", "grammar"}, {"grammar", spec.text}};
    case GrammarKind::kChoice: {
      OrderedJson choices = OrderedJson::array();
      for (const OrderedJson& choice : OrderedJson::parse(spec.text, nullptr, false)) {
        choices.push_back(ConstString(choice));
      }
      return {{"type", "or"}, {"elements", std::move(choices)}};
    }
    case GrammarKind::kStructuralTag:
      break;
  }
  const OrderedJson tag = OrderedJson::parse(spec.text, nullptr, false);
  return tag.is_object() && tag.contains("format") ? tag["format"] : OrderedJson();
}

OrderedJson TextOrCalls(OrderedJson tags, const ToolGrammarWish& wish, const CallLayout& layout) {
  if (wish.text) {
    return {{"type", "or"},
            {"elements",
             OrderedJson::array({WholeCalls(std::move(tags), layout, wish.parallel), FormatOf(wish.text->spec)})}};
  }
  if (layout.trigger == nullptr) {
    // Text that does not begin as a call does.
    OrderedJson text = {{"type", "sequence"},
                        {"elements", OrderedJson::array({OrderedJson{{"type", "regex"}, {"pattern", layout.text}},
                                                         OrderedJson{{"type", "any_text"}}})}};
    return {{"type", "or"},
            {"elements", OrderedJson::array({WholeCalls(std::move(tags), layout, wish.parallel), text})}};
  }
  const bool is_one = *layout.open != '\0';
  return {{"type", "triggered_tags"},
          {"triggers", OrderedJson::array({layout.trigger})},
          {"tags", is_one ? OrderedJson::array({WholeCalls(std::move(tags), layout, wish.parallel)}) : std::move(tags)},
          {"at_least_one", false},
          {"stop_after_first", is_one || !wish.parallel}};
}

// gpt-oss may think in a message of its own before it calls or answers, and calls one tool at a time.
OrderedJson HarmonyMessages(OrderedJson tags, const ToolGrammarWish& wish, const CallLayout& layout) {
  if (wish.calls == CallWish::kMay && !wish.text) {
    return {{"type", "triggered_tags"},
            {"triggers", OrderedJson::array({layout.trigger})},
            {"tags", std::move(tags)},
            {"at_least_one", false},
            {"stop_after_first", true}};
  }
  const OrderedJson analysis = {{"type", "tag"},
                                {"begin", "<|channel|>analysis<|message|>"},
                                {"content", {{"type", "any_text"}}},
                                {"end", "<|end|>"}};
  const OrderedJson thoughts = {{"type", "sequence"},
                                {"elements", OrderedJson::array({analysis, ConstString("<|start|>assistant")})}};
  OrderedJson last = std::move(tags);
  if (wish.text) {
    last.push_back(
        {{"type", "sequence"},
         {"elements", OrderedJson::array({ConstString("<|channel|>final<|message|>"), FormatOf(wish.text->spec)})}});
  }
  return {{"type", "sequence"},
          {"elements", OrderedJson::array({OrderedJson{{"type", "optional"}, {"content", thoughts}},
                                           OrderedJson{{"type", "or"}, {"elements", std::move(last)}}})}};
}

}  // namespace

bool HasToolGrammar(ToolSyntax syntax) { return LayoutOf(syntax) != nullptr; }

Result<Constraint> MakeToolGrammar(const ToolGrammarWish& wish, std::string& param) {
  const CallLayout* layout = LayoutOf(wish.syntax);
  if (layout == nullptr) return Unsupported("calls as this model writes them cannot be held to a grammar yet");
  ADIT_ASSIGN_OR_RETURN(OrderedJson tags, CallTags(wish, *layout, param));
  OrderedJson format = wish.syntax == ToolSyntax::kHarmony ? HarmonyMessages(std::move(tags), wish, *layout)
                       : wish.calls == CallWish::kMust     ? WholeCalls(std::move(tags), *layout, wish.parallel)
                                                           : TextOrCalls(std::move(tags), wish, *layout);
  const OrderedJson tag = {{"type", "structural_tag"}, {"format", std::move(format)}};
  return Constraint{.spec = {.kind = GrammarKind::kStructuralTag,
                             .text = tag.dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
                             .with_marks = true},
                    .param = "tools"};
}

}  // namespace adit::server
