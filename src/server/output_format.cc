#include "server/output_format.h"

#include "base/error.h"

namespace adit::server {

OutputFormat FormatOfTemplate(std::string_view chat_template) {
  const auto has = [chat_template](std::string_view word) {
    return chat_template.find(word) != std::string_view::npos;
  };
  OutputFormat format;
  if (has("<tool_call>")) {
    format.tools = ToolSyntax::kHermes;
  } else if (has("[TOOL_CALLS]")) {
    format.tools = ToolSyntax::kMistral;
  } else if (has("<|python_tag|>") || has("ipython")) {
    format.tools = ToolSyntax::kLlama3;
  }
  if (has("</think>")) format.reasoning = ReasoningSyntax::kThink;
  return format;
}

Result<ToolSyntax> ParseToolSyntax(std::string_view name) {
  if (name == "none") return ToolSyntax::kNone;
  if (name == "hermes") return ToolSyntax::kHermes;
  if (name == "llama3_json") return ToolSyntax::kLlama3;
  if (name == "mistral") return ToolSyntax::kMistral;
  return InvalidArgument("'{}' is none of none, hermes, llama3_json and mistral", name);
}

Result<ReasoningSyntax> ParseReasoningSyntax(std::string_view name) {
  if (name == "none") return ReasoningSyntax::kNone;
  if (name == "think") return ReasoningSyntax::kThink;
  return InvalidArgument("'{}' is neither none nor think", name);
}

}  // namespace adit::server
