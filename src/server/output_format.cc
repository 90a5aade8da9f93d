#include "server/output_format.h"

#include <string>

#include "base/error.h"

namespace adit::server {

namespace {

struct ToolRow {
  ToolSyntax syntax;
  std::string_view name;
  std::string_view mark;  // that templates of such models hold; empty: none does
  bool control;           // of control tokens
};

// In the order in which templates are looked at.
constexpr ToolRow kTools[] = {
    {ToolSyntax::kHarmony, "harmony", "<|channel|>", true},
    {ToolSyntax::kDeepSeek, "deepseek", "<｜tool▁calls▁begin｜>", true},
    {ToolSyntax::kCommandR, "command_r", "<|START_ACTION|>", true},
    {ToolSyntax::kGemma, "gemma", "<start_function_call>", true},
    {ToolSyntax::kHermes, "hermes", "<tool_call>", false},
    {ToolSyntax::kMistral, "mistral", "[TOOL_CALLS]", true},
    {ToolSyntax::kGranite, "granite", "<|tool_call|>", true},
    {ToolSyntax::kPythonic, "pythonic", "<|python_start|>", true},
    {ToolSyntax::kLlama3, "llama3_json", "<|python_tag|>", true},
    {ToolSyntax::kLlama3, "llama3_json", "ipython", true},
    {ToolSyntax::kNone, "none", "", false},
};

struct ReasoningRow {
  ReasoningSyntax syntax;
  std::string_view name;
  std::string_view mark;
  bool control;
};

constexpr ReasoningRow kReasonings[] = {
    {ReasoningSyntax::kHarmony, "harmony", "<|channel|>", true},
    {ReasoningSyntax::kCommandR, "command_r", "<|START_THINKING|>", true},
    {ReasoningSyntax::kThink, "think", "</think>", false},
    {ReasoningSyntax::kGranite, "granite", "Here is my thought process:", false},
    {ReasoningSyntax::kNone, "none", "", false},
};

template <typename Row, size_t kCount>
const Row* RowOf(const Row (&rows)[kCount], std::string_view chat_template) {
  for (const Row& row : rows) {
    if (!row.mark.empty() && chat_template.find(row.mark) != std::string_view::npos) return &row;
  }
  return nullptr;
}

template <typename Row, size_t kCount>
Result<decltype(Row::syntax)> Parse(const Row (&rows)[kCount], std::string_view name) {
  std::string names;
  for (const Row& row : rows) {
    if (row.name == name) return row.syntax;
    if (names.find(row.name) == std::string::npos) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return InvalidArgument("'{}' is none of {}", name, names);
}

}  // namespace

bool WritesControlTokens(ToolSyntax tools, ReasoningSyntax reasoning) {
  for (const ToolRow& row : kTools) {
    if (row.syntax == tools && row.control) return true;
  }
  for (const ReasoningRow& row : kReasonings) {
    if (row.syntax == reasoning && row.control) return true;
  }
  return false;
}

OutputFormat FormatOfTemplate(std::string_view chat_template) {
  OutputFormat format;
  if (const ToolRow* row = RowOf(kTools, chat_template); row != nullptr) format.tools = row->syntax;
  if (const ReasoningRow* row = RowOf(kReasonings, chat_template); row != nullptr) format.reasoning = row->syntax;
  return format;
}

Result<ToolSyntax> ParseToolSyntax(std::string_view name) { return Parse(kTools, name); }
Result<ReasoningSyntax> ParseReasoningSyntax(std::string_view name) { return Parse(kReasonings, name); }

}  // namespace adit::server
