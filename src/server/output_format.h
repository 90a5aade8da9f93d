#ifndef ADIT_SERVER_OUTPUT_FORMAT_H_
#define ADIT_SERVER_OUTPUT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::server {

// How a model writes calls of tools into its text.
enum class ToolSyntax : uint8_t {
  kNone,
  kHermes,   // <tool_call>{"name", "arguments"}</tool_call>: Hermes, Qwen
  kLlama3,   // {"name", "parameters"}, perhaps after <|python_tag|>; several parted by ';'
  kMistral,  // [TOOL_CALLS][{"name", "arguments"}]
};

// How a model writes its thoughts.
enum class ReasoningSyntax : uint8_t {
  kNone,
  kThink,        // <think>...</think> at the start of the text
  kOpenedThink,  // the same, where the template has written the <think>
};

struct OutputFormat {
  ToolSyntax tools = ToolSyntax::kNone;
  ReasoningSyntax reasoning = ReasoningSyntax::kNone;
};

// What a model's chat template tells of the syntax it was trained on.
OutputFormat FormatOfTemplate(std::string_view chat_template);

// "auto" is not a syntax: the caller asks the template. InvalidArgument, with the names, for one that is not known.
Result<ToolSyntax> ParseToolSyntax(std::string_view name);
Result<ReasoningSyntax> ParseReasoningSyntax(std::string_view name);

// How one request's answers are taken apart.
struct OutputWish {
  ToolSyntax tools = ToolSyntax::kNone;
  ReasoningSyntax reasoning = ReasoningSyntax::kNone;
  std::vector<std::string> tool_names;  // that may be called
  bool include_reasoning = true;
  bool parallel_calls = true;
  bool legacy = false;  // a call is told as "function_call"
};

}  // namespace adit::server

#endif  // ADIT_SERVER_OUTPUT_FORMAT_H_
