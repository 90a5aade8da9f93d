#ifndef ADIT_SERVER_OUTPUT_FORMAT_H_
#define ADIT_SERVER_OUTPUT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::server {

// How a model writes calls of tools into its text.
enum class ToolSyntax : uint8_t {
  kNone,
  kHermes,    // <tool_call>{"name", "arguments"}</tool_call>: Hermes, Qwen
  kLlama3,    // {"name", "parameters"}, perhaps after <|python_tag|>; several parted by ';'
  kMistral,   // [TOOL_CALLS][{"name", "arguments"}]
  kPythonic,  // [name(a=1, b="x"), ...]: Llama 3.2 and 4
  kDeepSeek,  // <｜tool▁calls▁begin｜>...<｜tool▁calls▁end｜>: V3, R1 and V3.1
  kCommandR,  // <|START_ACTION|>[{"tool_name", "parameters"}]<|END_ACTION|>: Command R7B and A
  kGranite,   // <|tool_call|>[{"name", "arguments"}]: Granite 3
  kGemma,     // <start_function_call>call:name{a:1,b:<escape>x<escape>}<end_function_call>: FunctionGemma
  kHarmony,   // <|channel|>commentary to=functions.name ...<|message|>{...}<|call|>: gpt-oss
};

// How a model writes its thoughts.
enum class ReasoningSyntax : uint8_t {
  kNone,
  kThink,        // <think>...</think> at the start of the text
  kOpenedThink,  // the same, where the template has written the <think>
  kCommandR,     // <|START_THINKING|>...<|END_THINKING|>
  kGranite,      // "Here is my thought process:" ... "Here is my response:"
  kHarmony,      // <|channel|>analysis<|message|>...<|end|>
};

inline constexpr size_t kNumToolSyntaxes = 10;
inline constexpr size_t kNumReasoningSyntaxes = 6;

// Whether what the syntax is made of are control tokens, so that the text must hold them to be read.
bool WritesControlTokens(ToolSyntax tools, ReasoningSyntax reasoning);

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
