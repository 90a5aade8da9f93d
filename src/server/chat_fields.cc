#include "server/chat_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "server/chat_messages.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTools = 128;
constexpr size_t kMaxNameBytes = 256;

class ChatReader {
 public:
  ChatReader(FieldReader& fields, const ApiModel& model, OutputWish& output)
      : fields_(fields), model_(model), output_(output) {}

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
    Json tools = Json::array();
    if (const Json* list = fields_.Find("tools"); list != nullptr) {
      if (!list->is_array()) return fields_.FailType("tools", *list, "a list of tools");
      tools = *list;
    }
    if (const Json* list = fields_.Find("functions"); list != nullptr) {
      if (!list->is_array()) return fields_.FailType("functions", *list, "a list of functions");
      output_.legacy = tools.empty() && !list->empty();
      for (const Json& function : *list) tools.push_back({{"type", "function"}, {"function", function}});
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

  void CheckTool(const Json& tool, const std::string& param) {
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
    if (reader.Flag("strict").value_or(false)) {
      reader.Fail("unsupported_parameter", "strict", "'strict' is not supported yet; only false is taken");
    }
    const Json* parameters = reader.Find("parameters");
    if (parameters != nullptr && !parameters->is_object()) reader.FailType("parameters", *parameters, "an object");
    if (name.empty()) reader.Fail("missing_required_parameter", "name", "'name' is missing");
    if (reader.error()) {
      return fields_.Fail(reader.error()->code, fmt::format("{}.function.{}", param, reader.error()->param),
                          reader.error()->message);
    }
    output_.tool_names.push_back(name);
  }

  void ReadToolChoice() {
    output_.parallel_calls = fields_.Flag("parallel_tool_calls").value_or(true);
    const Json* choice = fields_.Find("tool_choice");
    const char* key = "tool_choice";
    if (choice == nullptr) {
      choice = fields_.Find("function_call");
      key = "function_call";
    }
    if (choice != nullptr && *choice != "none" && *choice != "auto") {
      if (*choice == "required" || choice->is_object()) {
        return fields_.Fail("unsupported_parameter", key,
                            fmt::format("'{}' is not supported beyond none and auto yet", key));
      }
      return fields_.Fail("invalid_tool_choice", key,
                          fmt::format("'{}' is {}; it is none or auto", key, choice->dump()));
    }
    const bool none = choice != nullptr && *choice == "none";
    if (tools_.empty() || none) return;
    output_.tools = model_.output.tools;
    wish_.prompt.tools = tools_.dump();
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

  FieldReader& fields_;
  const ApiModel& model_;
  OutputWish& output_;
  ChatWish wish_;
  Json tools_ = Json::array();
  Json variables_ = Json::object();
};

// Whether the template has opened the answer's thoughts already.
bool OpensThoughts(const std::vector<chat::PromptSegment>& prompt) {
  if (prompt.empty() || !prompt.back().trusted) return false;
  std::string_view text = prompt.back().text;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text.ends_with("<think>");
}

}  // namespace

ChatWish ReadChatWish(FieldReader& fields, const ApiModel& model, OutputWish& output) {
  return ChatReader(fields, model, output).Read();
}

void ReadChat(FieldReader& fields, const ApiModel& model, ApiRequest& out) {
  const ChatWish wish = ReadChatWish(fields, model, out.output);
  if (fields.error()) return;
  const Result<std::vector<chat::PromptSegment>> rendered = model.chat->Render(wish.messages, wish.prompt);
  if (!rendered.ok()) return fields.Fail("chat_template_error", "messages", rendered.status().message());
  if (out.output.reasoning == ReasoningSyntax::kThink && OpensThoughts(*rendered)) {
    out.output.reasoning = ReasoningSyntax::kOpenedThink;
  }
  out.generation.prompt = model.chat->Encode(*rendered);
  if (out.generation.prompt.empty()) fields.Fail("invalid_value", "messages", "the prompt is empty");
}

std::variant<int64_t, ApiError> CountPrompt(const Json& body, const ApiModel& model) {
  FieldReader fields(body);
  ApiRequest request;
  ReadChat(fields, model, request);
  if (fields.error()) return *fields.error();
  return static_cast<int64_t>(request.generation.prompt.size());
}

}  // namespace adit::server
