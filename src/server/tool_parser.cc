// Calls of tools in a model's text. A call is told when it is complete.
#include <optional>
#include <utility>

#include "server/mark_scanner.h"
#include "server/tool_parser_internal.h"

namespace adit::server {
namespace {

// Calls between two marks, among other text. White space around them is dropped.
class MarkedParser : public ToolParser {
 public:
  MarkedParser(bool parallel, std::string_view open, std::string_view close, ReadCalls read)
      : ToolParser(parallel), close_(close), read_(read), open_(open, /*with_space=*/true) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    for (const char byte : text) {
      if (in_call_) {
        InCall(byte, out);
      } else {
        InText(byte, out);
      }
    }
  }

  void Finish(std::vector<OutputDelta>& out) override {
    if (in_call_) {
      if (!Tell(held_, out)) AddText(OutputDelta::Kind::kContent, before_ + held_, out);
      return;
    }
    const std::string rest = open_.Take();
    // White space behind the last call says nothing.
    if (num_calls() > 0 && TrimJsonSpace(rest).empty()) return;
    AddText(OutputDelta::Kind::kContent, rest, out);
  }

 private:
  void InText(char byte, std::vector<OutputDelta>& out) {
    std::string text;
    in_call_ = open_.Feed(byte, text);
    AddText(OutputDelta::Kind::kContent, text, out);
    if (!in_call_) return;
    before_ = open_.Take();
    held_.clear();
  }

  void InCall(char byte, std::vector<OutputDelta>& out) {
    held_ += byte;
    if (!std::string_view(held_).ends_with(close_)) return;
    const std::string_view body = std::string_view(held_).substr(0, held_.size() - close_.size());
    if (!Tell(body, out)) AddText(OutputDelta::Kind::kContent, before_ + held_, out);
    in_call_ = false;
  }

  bool Tell(std::string_view body, std::vector<OutputDelta>& out) {
    std::vector<OutputDelta> calls;
    if (!read_(body, calls)) return false;
    AddCalls(std::move(calls), out);
    return true;
  }

  const std::string_view close_;
  const ReadCalls read_;
  bool in_call_ = false;
  MarkScanner open_;
  std::string before_;  // the mark of the call, and the white space in front of it
  std::string held_;    // of the call so far
};

// Text that is nothing but calls, perhaps behind a mark: it begins as they do, and is looked at when it has ended.
class WholeTextParser : public ToolParser {
 public:
  WholeTextParser(bool parallel, std::string_view mark, char first, ReadCalls read)
      : ToolParser(parallel), mark_(mark), first_(first), read_(read) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    for (size_t i = 0; i < text.size(); ++i) {
      if (plain_) return AddText(OutputDelta::Kind::kContent, text.substr(i), out);
      held_ += text[i];
      if (!MayBeCalls(text[i])) {
        plain_ = true;
        AddText(OutputDelta::Kind::kContent, std::exchange(held_, {}), out);
      }
    }
  }

  void Finish(std::vector<OutputDelta>& out) override {
    if (plain_) return;
    std::string_view body = held_;
    while (!body.empty() && IsJsonSpace(body.front())) body.remove_prefix(1);
    if (body.starts_with(mark_)) body.remove_prefix(mark_.size());
    std::vector<OutputDelta> calls;
    if (read_(body, calls)) {
      AddCalls(std::move(calls), out);
    } else {
      AddText(OutputDelta::Kind::kContent, held_, out);
    }
  }

 private:
  // Whether the text with `byte` may still be calls: it is white space, then an object or list, or the mark.
  bool MayBeCalls(char byte) {
    if (begun_) return true;
    if (num_marked_ == 0 && IsJsonSpace(byte)) return true;
    if (num_marked_ < mark_.size() && byte == mark_[num_marked_]) {
      begun_ = ++num_marked_ == mark_.size();
      return true;
    }
    begun_ = num_marked_ == 0 && byte == first_;
    return begun_;
  }

  const std::string_view mark_;
  const char first_;
  const ReadCalls read_;
  bool plain_ = false;     // no calls: all is content
  bool begun_ = false;     // what is no white space at the start has been seen
  size_t num_marked_ = 0;  // bytes of the mark
  std::string held_;
};

// [TOOL_CALLS][{...}] behind other text, which is content.
class MistralParser : public ToolParser {
 public:
  explicit MistralParser(bool parallel) : ToolParser(parallel), calls_(parallel, kMark, '[', &ReadJsonCalls) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    for (size_t i = 0; i < text.size(); ++i) {
      if (marked_) return calls_.Append(text.substr(i), out);
      std::string content;
      marked_ = mark_.Feed(text[i], content);
      AddText(OutputDelta::Kind::kContent, content, out);
      if (marked_) calls_.Append(mark_.Take(), out);
    }
  }

  void Finish(std::vector<OutputDelta>& out) override {
    if (marked_) return calls_.Finish(out);
    AddText(OutputDelta::Kind::kContent, mark_.Take(), out);
  }

 private:
  static constexpr std::string_view kMark = "[TOOL_CALLS]";
  MarkScanner mark_{kMark, /*with_space=*/false};
  WholeTextParser calls_;
  bool marked_ = false;
};

}  // namespace

std::unique_ptr<OutputParser> MakeToolParser(const OutputWish& wish) {
  const bool parallel = wish.parallel_calls;
  switch (wish.tools) {
    case ToolSyntax::kLlama3:
      return std::make_unique<WholeTextParser>(parallel, "<|python_tag|>", '{', &ReadJsonCalls);
    case ToolSyntax::kPythonic:
      return std::make_unique<WholeTextParser>(parallel, "<|python_start|>", '[', &ReadPythonCalls);
    case ToolSyntax::kGranite:
      return std::make_unique<WholeTextParser>(parallel, "<|tool_call|>", '[', &ReadJsonCalls);
    case ToolSyntax::kMistral:
      return std::make_unique<MistralParser>(parallel);
    case ToolSyntax::kDeepSeek:
      return std::make_unique<MarkedParser>(parallel, "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>",
                                            &ReadDeepSeekCalls);
    case ToolSyntax::kCommandR:
      return std::make_unique<MarkedParser>(parallel, "<|START_ACTION|>", "<|END_ACTION|>", &ReadCommandCalls);
    case ToolSyntax::kGemma:
      return std::make_unique<MarkedParser>(parallel, "<start_function_call>", "<end_function_call>", &ReadGemmaCalls);
    case ToolSyntax::kHarmony:
      return MakeHarmonyParser(wish);
    case ToolSyntax::kHermes:
    case ToolSyntax::kNone:
      break;
  }
  return std::make_unique<MarkedParser>(parallel, "<tool_call>", "</tool_call>", &ReadJsonCalls);
}

}  // namespace adit::server
