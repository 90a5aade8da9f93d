#include "server/output_parser.h"

#include <utility>

#include "server/mark_scanner.h"

namespace adit::server {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

class ContentParser : public OutputParser {
 public:
  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    AddText(OutputDelta::Kind::kContent, text, out);
  }
  void Finish(std::vector<OutputDelta>&) override {}
};

// <think> at the start of the text, thoughts, </think>, and the rest. White space at the ends of the thoughts and in
// front of the rest is dropped.
class ReasoningParser : public OutputParser {
 public:
  ReasoningParser(bool opened, std::unique_ptr<OutputParser> rest)
      : rest_(std::move(rest)), state_(opened ? State::kBefore : State::kStart) {}

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
  MarkScanner open_{kOpen, /*with_space=*/true};
  MarkScanner close_{kClose, /*with_space=*/true};
};

}  // namespace

void AddText(OutputDelta::Kind kind, std::string_view text, std::vector<OutputDelta>& out) {
  if (text.empty()) return;
  if (!out.empty() && out.back().kind == kind) {
    out.back().text += text;
  } else {
    out.push_back({.kind = kind, .text = std::string(text), .name = {}});
  }
}

std::unique_ptr<OutputParser> MakeReasoningParser(bool opened, std::unique_ptr<OutputParser> rest) {
  return std::make_unique<ReasoningParser>(opened, std::move(rest));
}

std::unique_ptr<OutputParser> MakeOutputParser(const OutputWish& wish) {
  std::unique_ptr<OutputParser> parser;
  if (wish.tools != ToolSyntax::kNone) parser = MakeToolParser(wish);
  if (wish.reasoning == ReasoningSyntax::kNone) return parser;
  if (parser == nullptr) parser = std::make_unique<ContentParser>();
  return MakeReasoningParser(wish.reasoning == ReasoningSyntax::kOpenedThink, std::move(parser));
}

}  // namespace adit::server
