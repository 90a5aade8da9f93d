#include "server/output_parser.h"

#include <utility>

#include "server/mark_scanner.h"
#include "server/tool_parser_internal.h"

namespace adit::server {
namespace {

class ContentParser : public OutputParser {
 public:
  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    AddText(OutputDelta::Kind::kContent, text, out);
  }
  void Finish(std::vector<OutputDelta>&) override {}
};

// A mark such as <think> at the start of the text, thoughts, </think>, and the rest. White space at the ends of the
// thoughts and in front of the rest is dropped.
class ReasoningParser : public OutputParser {
 public:
  ReasoningParser(ReasoningMarks marks, bool opened, std::unique_ptr<OutputParser> rest)
      : rest_(std::move(rest)),
        state_(opened ? State::kBefore : State::kStart),
        open_(marks.open, /*with_space=*/true),
        close_(marks.close, /*with_space=*/true) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    for (size_t i = 0; i < text.size(); ++i) {
      if (state_ == State::kRest) return rest_->Append(text.substr(i), out);
      Step(text[i], out);
    }
  }

  void Finish(std::vector<OutputDelta>& out) override {
    if (state_ == State::kStart) rest_->Append(open_.Take(), out);
    if (state_ == State::kThinking) AddText(OutputDelta::Kind::kReasoning, close_.Take(), out);
    rest_->Finish(out);
  }

 private:
  enum class State : unsigned char {
    kStart,     // nothing but what may become <think>
    kBefore,    // in the thoughts, nothing but white space so far
    kThinking,  // in the thoughts
    kAfter,     // behind them, nothing but white space so far
    kRest,
  };

  void Step(char byte, std::vector<OutputDelta>& out) {
    switch (state_) {
      case State::kStart:
        return Start(byte, out);
      case State::kBefore:
        if (IsJsonSpace(byte)) return;
        state_ = State::kThinking;
        return Think(byte, out);
      case State::kThinking:
        return Think(byte, out);
      case State::kAfter:
        if (IsJsonSpace(byte)) return;
        state_ = State::kRest;
        return rest_->Append(std::string_view(&byte, 1), out);
      case State::kRest:
        return;
    }
  }

  void Start(char byte, std::vector<OutputDelta>& out) {
    std::string other;
    const bool opened = open_.Feed(byte, other);
    if (opened) {
      state_ = State::kBefore;
      (void)open_.Take();
    } else if (!other.empty()) {
      state_ = State::kRest;
      rest_->Append(other + open_.Take(), out);
    }
  }

  void Think(char byte, std::vector<OutputDelta>& out) {
    std::string thoughts;
    const bool closed = close_.Feed(byte, thoughts);
    AddText(OutputDelta::Kind::kReasoning, thoughts, out);
    if (!closed) return;
    (void)close_.Take();
    state_ = State::kAfter;
  }

  const std::unique_ptr<OutputParser> rest_;
  State state_;
  MarkScanner open_;
  MarkScanner close_;
};

}  // namespace

ReasoningMarks MarksOf(ReasoningSyntax syntax) {
  switch (syntax) {
    case ReasoningSyntax::kThink:
    case ReasoningSyntax::kOpenedThink:
      return {"<think>", "</think>"};
    case ReasoningSyntax::kCommandR:
      return {"<|START_THINKING|>", "<|END_THINKING|>"};
    case ReasoningSyntax::kGranite:
      return {"Here is my thought process:", "Here is my response:"};
    case ReasoningSyntax::kHarmony:
      return {"<|channel|>analysis<|message|>", "<|end|>"};
    case ReasoningSyntax::kNone:
      break;
  }
  return {};
}

void AddText(OutputDelta::Kind kind, std::string_view text, std::vector<OutputDelta>& out) {
  if (text.empty()) return;
  if (!out.empty() && out.back().kind == kind) {
    out.back().text += text;
  } else {
    out.push_back({.kind = kind, .text = std::string(text), .name = {}});
  }
}

std::unique_ptr<OutputParser> MakeReasoningParser(ReasoningSyntax syntax, std::unique_ptr<OutputParser> rest) {
  const bool opened = syntax == ReasoningSyntax::kOpenedThink;
  return std::make_unique<ReasoningParser>(MarksOf(syntax), opened, std::move(rest));
}

std::unique_ptr<OutputParser> MakeOutputParser(const OutputWish& wish) {
  if (wish.tools == ToolSyntax::kHarmony || wish.reasoning == ReasoningSyntax::kHarmony) return MakeHarmonyParser(wish);
  std::unique_ptr<OutputParser> parser;
  if (wish.tools != ToolSyntax::kNone) parser = MakeToolParser(wish);
  const bool is_command = wish.tools == ToolSyntax::kCommandR || wish.reasoning == ReasoningSyntax::kCommandR;
  if (parser == nullptr && (is_command || wish.reasoning != ReasoningSyntax::kNone)) {
    parser = std::make_unique<ContentParser>();
  }
  if (is_command) parser = MakeResponseParser(std::move(parser));
  if (wish.reasoning == ReasoningSyntax::kNone) return parser;
  return MakeReasoningParser(wish.reasoning, std::move(parser));
}

}  // namespace adit::server
