#include "server/chat_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "grammar/compiler.h"
#include "server/chat_messages.h"
#include "server/thinking_budget.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxTools = 128;
constexpr size_t kMaxNameBytes = 256;
constexpr int64_t kMaxThinkingTokens = int64_t{1} << 40;

class ChatReader {
 public:
  ChatReader(FieldReader& fields, const OrderedBody& body, const ApiModel& model, OutputWish& output)
      : fields_(fields), body_(body), model_(model), output_(output) {}

  ChatWish Read() {
    wish_.messages = ReadMessages(fields_);
    if (!fields_.error() && !model_.chat.ok()) {
      fields_.Fail("chat_template_error", "messages", model_.chat.status().message());
    }
    if (fields_.error()) return std::move(wish_);
    ReadVariables();
    ReadTools();
    ReadToolChoice();
    ReadReasoning();
    ReadEnds();
    if (!variables_.empty()) wish_.prompt.variables = variables_.dump();
    return std::move(wish_);
  }

 private:
  bool TemplateKnows(std::string_view word) const { return model_.chat->source().find(word) != std::string::npos; }

  void ReadVariables() {
    const Json* variables = fields_.Find("chat_template_kwargs");
    if (variables != nullptr && !variables->is_object()) {
      return fields_.FailType("chat_template_kwargs", *variables, "an object");
    }
    if (variables != nullptr) {
      for (const auto& [key, value] : variables->items()) {
        const std::string param = "chat_template_kwargs." + key;
        // The template's own texts are read for control tokens, and such a variable would become one of them.
        if (value.is_string() && HoldsControlTokens(value.get_ref<const std::string&>())) {
          return fields_.Fail("invalid_value", param, fmt::format("'{}' holds a control token of the model", param));
        }
        variables_[key] = value;
      }
    }
    const Json* documents = fields_.Find("documents");
    if (documents == nullptr) return;
    if (!documents->is_array()) return fields_.FailType("documents", *documents, "a list of objects");
    for (size_t i = 0; i < documents->size(); ++i) {
      if (!(*documents)[i].is_object()) {
        return fields_.FailType(fmt::format("documents[{}]", i), (*documents)[i], "an object");
      }
    }
    wish_.prompt.documents = documents->dump();
  }

  bool HoldsControlTokens(const std::string& text) const {
    return model_.tokenizer.Encode(text, /*parse_special=*/true, /*add_special=*/false) !=
           model_.tokenizer.Encode(text, /*parse_special=*/false, /*add_special=*/false);
  }

  void ReadTools() {
    OrderedJson tools = OrderedJson::array();
    if (const Json* list = fields_.Find("tools"); list != nullptr) {
      if (!list->is_array()) return fields_.FailType("tools", *list, "a list of tools");
      tools = body_.Member("tools");
    }
    if (const Json* list = fields_.Find("functions"); list != nullptr) {
      if (!list->is_array()) return fields_.FailType("functions", *list, "a list of functions");
      output_.legacy = tools.empty() && !list->empty();
      for (const OrderedJson& function : body_.Member("functions")) {
        tools.push_back({{"type", "function"}, {"function", function}});
      }
    }
    if (tools.size() > kMaxTools) {
      return fields_.Fail("invalid_value", "tools",
                          fmt::format("'tools' has {} entries; it has at most {}", tools.size(), kMaxTools));
    }
    for (size_t i = 0; i < tools.size() && !fields_.error(); ++i) CheckTool(tools[i], fmt::format("tools[{}]", i));
    if (tools.empty() || fields_.error()) return;
    if (model_.output.tools == ToolSyntax::kNone || !TemplateKnows("tools")) {
      return fields_.Fail("unsupported_parameter", "tools",
                          "'tools' is not supported by this model: its chat template has no place for them");
    }
    tools_ = std::move(tools);
  }

  void CheckTool(const OrderedJson& ordered, const std::string& param) {
    const Json tool = ordered;
    if (!tool.is_object()) return fields_.FailType(param, tool, "an object");
    const auto type = tool.find("type");
    if (type == tool.end() || *type != "function") {
      return fields_.Fail("unsupported_parameter", param + ".type",
                          fmt::format("'{}.type' is {}; only \"function\" is supported", param,
                                      type == tool.end() ? std::string("absent") : type->dump()));
    }
    const auto function = tool.find("function");
    if (function == tool.end() || !function->is_object()) {
      return fields_.Fail("missing_required_parameter", param + ".function",
                          fmt::format("'{}.function' is missing or no object", param));
    }
    FieldReader reader(*function);
    const std::string name = reader.Text("name", 1, kMaxNameBytes).value_or("");
    const bool strict = reader.Flag("strict").value_or(false);
    const Json* parameters = reader.Find("parameters");
    if (parameters != nullptr && !parameters->is_object()) reader.FailType("parameters", *parameters, "an object");
    if (name.empty()) reader.Fail("missing_required_parameter", "name", "'name' is missing");
    if (reader.error()) {
      return fields_.Fail(reader.error()->code, fmt::format("{}.function.{}", param, reader.error()->param),
                          reader.error()->message);
    }
    output_.tool_names.push_back(name);
    wish_.tools.push_back({.name = name,
                           .parameters = parameters == nullptr ? "" : ordered["function"]["parameters"].dump(),
                           .strict = strict,
                           .param = param + ".function.parameters"});
  }

  void ReadToolChoice() {
    output_.parallel_calls = fields_.Flag("parallel_tool_calls").value_or(true);
    const Json* choice = fields_.Find("tool_choice");
    const char* key = "tool_choice";
    if (choice == nullptr) {
      choice = fields_.Find("function_call");
      key = "function_call";
    }
    if (choice == nullptr) choice = &kAuto;
    const bool none = *choice == "none";
    if (choice->is_object()) {
      ReadChosenTools(*choice, key);
    } else if (*choice == "required") {
      wish_.must_call = true;
    } else if (!none && *choice != "auto") {
      return fields_.Fail(
          "invalid_tool_choice", key,
          fmt::format("'{}' is {}; it is none, auto, required or names a function", key, choice->dump()));
    }
    if (fields_.error()) return;
    if (wish_.must_call && tools_.empty()) {
      return fields_.Fail("invalid_tool_choice", key, fmt::format("'{}' asks for a call, and there are no tools", key));
    }
    if (tools_.empty() || none) return wish_.tools.clear();
    output_.tools = model_.output.tools;
    wish_.prompt.tools = tools_.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  }

  // {"type": "function", "function": {"name"}}, {"name"} of the older form, and {"type": "allowed_tools", ...}.
  void ReadChosenTools(const Json& choice, const char* key) {
    const auto type = choice.find("type");
    if (type != choice.end() && *type == "allowed_tools") return ReadAllowedTools(choice, key);
    if (type != choice.end() && *type != "function") {
      return fields_.Fail("invalid_tool_choice", key,
                          fmt::format("'{}.type' is {}; it is function or allowed_tools", key, type->dump()));
    }
    const std::optional<std::string> name = NameOf(choice);
    if (!name) {
      return fields_.Fail("invalid_tool_choice", key, fmt::format("'{}' names no function", key));
    }
    wish_.must_call = true;
    output_.parallel_calls = false;
    KeepTools({*name}, key);
  }

  static std::optional<std::string> NameOf(const Json& choice) {
    if (!choice.is_object()) return std::nullopt;
    const auto function = choice.find("function");
    const Json& named = function != choice.end() && function->is_object() ? *function : choice;
    const auto name = named.find("name");
    if (name == named.end() || !name->is_string()) return std::nullopt;
    return name->get<std::string>();
  }

  void ReadAllowedTools(const Json& choice, const char* key) {
    const auto inner = choice.find("allowed_tools");
    const Json& allowed = inner != choice.end() && inner->is_object() ? *inner : choice;
    const auto mode = allowed.find("mode");
    const bool required = mode != allowed.end() && *mode == "required";
    if (mode != allowed.end() && !required && *mode != "auto") {
      return fields_.Fail("invalid_tool_choice", key,
                          fmt::format("'{}.mode' is {}; it is auto or required", key, mode->dump()));
    }
    const auto list = allowed.find("tools");
    if (list == allowed.end() || !list->is_array() || list->empty()) {
      return fields_.Fail("invalid_tool_choice", key, fmt::format("'{}.tools' is a list of tools", key));
    }
    std::vector<std::string> names;
    for (const Json& tool : *list) {
      const std::optional<std::string> name = NameOf(tool);
      if (!name) {
        return fields_.Fail("invalid_tool_choice", key, fmt::format("'{}.tools' holds {}", key, tool.dump()));
      }
      names.push_back(*name);
    }
    wish_.must_call = required;
    wish_.restricts_tools = true;
    KeepTools(names, key);
  }

  // The prompt still tells of all: what is cached of it stays of use.
  void KeepTools(const std::vector<std::string>& names, const char* key) {
    for (const std::string& name : names) {
      const auto& known = output_.tool_names;
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return fields_.Fail("invalid_tool_choice", key, fmt::format("'{}' names '{}', which is no tool", key, name));
      }
    }
    std::erase_if(wish_.tools, [&names](const CallableTool& tool) {
      return std::find(names.begin(), names.end(), tool.name) == names.end();
    });
    output_.tool_names = names;
  }

  void ReadReasoning() {
    output_.reasoning = model_.output.reasoning;
    output_.include_reasoning = fields_.Flag("include_reasoning").value_or(true);
    const std::string format = fields_.Text("reasoning_format", 1, 16).value_or("auto");
    if (format == "none") {
      output_.reasoning = ReasoningSyntax::kNone;
    } else if (format != "auto" && format != "deepseek") {
      fields_.Fail("invalid_value", "reasoning_format", "'reasoning_format' is none of none, deepseek and auto");
    }
    wish_.thinking_tokens = fields_.Whole("thinking_token_budget", 0, kMaxThinkingTokens);
    const std::optional<std::string> effort = fields_.Text("reasoning_effort", 1, 16);
    if (!effort) return;
    constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    if (std::find(std::begin(kEfforts), std::end(kEfforts), *effort) == std::end(kEfforts)) {
      return fields_.Fail("invalid_value", "reasoning_effort",
                          "'reasoning_effort' is none of none, minimal, low, medium, high, xhigh and max");
    }
    if (TemplateKnows("reasoning_effort")) {
      variables_["reasoning_effort"] = *effort;
    } else if (TemplateKnows("enable_thinking")) {
      variables_["enable_thinking"] = *effort != "none";
    } else if (*effort != "none") {
      fields_.Fail("unsupported_parameter", "reasoning_effort",
                   "'reasoning_effort' is not supported by this model: its chat template does not know it");
    }
  }

  void ReadEnds() {
    wish_.prompt.add_generation_prompt = fields_.Flag("add_generation_prompt").value_or(true);
    wish_.prompt.continue_final_message = fields_.Flag("continue_final_message").value_or(false);
    const bool wants_both = fields_.Find("add_generation_prompt") != nullptr && wish_.prompt.add_generation_prompt &&
                            wish_.prompt.continue_final_message;
    if (wants_both) {
      fields_.Fail("invalid_value", "continue_final_message",
                   "'continue_final_message' and 'add_generation_prompt' exclude each other");
    }
  }

  const Json kAuto = "auto";

  FieldReader& fields_;
  const OrderedBody& body_;
  const ApiModel& model_;
  OutputWish& output_;
  ChatWish wish_;
  OrderedJson tools_ = OrderedJson::array();
  Json variables_ = Json::object();
};

// The text that the prompt ends with, as far as the template wrote it, without white space behind it.
std::string_view EndOf(const std::vector<chat::PromptSegment>& prompt) {
  if (prompt.empty() || !prompt.back().trusted) return {};
  std::string_view text = prompt.back().text;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

// Holds the thoughts to their budget, where the request has one.
void LimitThoughts(FieldReader& fields, const ChatWish& wish, const ApiModel& model, bool opened, ApiRequest& out) {
  if (!wish.thinking_tokens) return;
  ThinkingBudget budget{.tokens = *wish.thinking_tokens, .syntax = model.output.reasoning};
  if (budget.syntax == ReasoningSyntax::kThink && opened) budget.syntax = ReasoningSyntax::kOpenedThink;
  Result<GrammarPtr> grammar = MakeThinkingBudget(budget, model.tokenizer);
  if (!grammar.ok()) {
    return fields.Fail("unsupported_parameter", "thinking_token_budget",
                       fmt::format("'thinking_token_budget' is not supported: {}", grammar.status().message()));
  }
  out.generation.grammar = std::move(grammar).value();
}

// Holds the answer to calls, where the request wants that.
void ConstrainCalls(FieldReader& fields, const ChatWish& wish, ApiRequest& out) {
  const bool calls = out.output.tools != ToolSyntax::kNone && !wish.tools.empty();
  const bool any_strict =
      std::any_of(wish.tools.begin(), wish.tools.end(), [](const CallableTool& tool) { return tool.strict; });
  if (!calls || !(wish.must_call || wish.restricts_tools || any_strict || out.constraint)) return;
  const char* param = wish.must_call || wish.restricts_tools ? "tool_choice" : "tools";
  if (!grammar::Compiler::available()) {
    return fields.Fail("not_supported", param, fmt::format("'{}' needs XGrammar, which this build lacks", param));
  }
  if (!HasToolGrammar(out.output.tools)) {
    return fields.Fail("unsupported_parameter", param,
                       fmt::format("'{}' is not supported for calls as this model writes them yet", param));
  }
  std::string at = param;
  Result<Constraint> constraint = MakeToolGrammar({.syntax = out.output.tools,
                                                   .calls = wish.must_call ? CallWish::kMust : CallWish::kMay,
                                                   .parallel = out.output.parallel_calls,
                                                   .tools = wish.tools,
                                                   .text = wish.must_call ? std::nullopt : out.constraint},
                                                  at);
  if (!constraint.ok()) {
    const bool unsupported = constraint.status().code() == StatusCode::kUnsupported;
    return fields.Fail(unsupported ? "unsupported_schema_feature" : "invalid_json_schema", at,
                       fmt::format("'{}': {}", at, constraint.status().message()));
  }
  out.constraint = std::move(constraint).value();
}

}  // namespace

ChatWish ReadChatWish(FieldReader& fields, const OrderedBody& body, const ApiModel& model, OutputWish& output) {
  return ChatReader(fields, body, model, output).Read();
}

void ReadChat(FieldReader& fields, const OrderedBody& body, const ApiModel& model, ApiRequest& out) {
  const ChatWish wish = ReadChatWish(fields, body, model, out.output);
  if (!fields.error()) ConstrainCalls(fields, wish, out);
  if (fields.error()) return;
  const Result<std::vector<chat::PromptSegment>> rendered = model.chat->Render(wish.messages, wish.prompt);
  if (!rendered.ok()) return fields.Fail("chat_template_error", "messages", rendered.status().message());
  const std::string_view end = EndOf(*rendered);
  if (out.output.reasoning == ReasoningSyntax::kThink && end.ends_with("<think>")) {
    out.output.reasoning = ReasoningSyntax::kOpenedThink;
  }
  if (out.constraint && out.output.reasoning != ReasoningSyntax::kNone && !end.ends_with("</think>")) {
    const bool opened = out.output.reasoning == ReasoningSyntax::kOpenedThink;
    out.constraint->spec.thoughts = opened ? GrammarThoughts::kOpened : GrammarThoughts::kMay;
  }
  LimitThoughts(fields, wish, model, end.ends_with("<think>"), out);
  {
    const SecondsAdder adder(out.tokenize_seconds);
    out.generation.prompt = model.chat->Encode(*rendered);
  }
  if (out.generation.prompt.empty()) fields.Fail("invalid_value", "messages", "the prompt is empty");
}

std::variant<int64_t, ApiError> CountPrompt(const Json& body, const ApiModel& model, std::string_view text) {
  FieldReader fields(body);
  ApiRequest request;
  ReadChat(fields, OrderedBody(body, text), model, request);
  if (fields.error()) return *fields.error();
  return static_cast<int64_t>(request.generation.prompt.size());
}

}  // namespace adit::server
