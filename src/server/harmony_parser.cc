// The messages of gpt-oss: <|start|>assistant<|channel|>analysis<|message|>...<|end|>. The prompt ends with the first
// <|start|>assistant; thoughts are messages of the channel analysis, answers of final, calls go to functions.NAME.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/mark_set.h"
#include "server/tool_parser_internal.h"

namespace adit::server {
namespace {

constexpr size_t kMaxHarmonyHeaderBytes = 1024;
constexpr std::string_view kMessage = "<|message|>";
constexpr std::string_view kStarts[] = {"<|channel|>", "<|start|>", "<|message|>", " to="};

class HarmonyParser : public ToolParser {
 public:
  explicit HarmonyParser(const OutputWish& wish)
      : ToolParser(wish.parallel_calls),
        reads_calls_(wish.tools == ToolSyntax::kHarmony),
        reads_thoughts_(wish.reasoning == ReasoningSyntax::kHarmony) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    for (const char byte : text) {
      if (in_header_) {
        InHeader(byte, out);
      } else {
        InBody(byte, out);
      }
    }
  }

  void Finish(std::vector<OutputDelta>& out) override {
    if (in_header_) {
      // The start of a message that never came says nothing.
      if (!MayBeHeader()) AddText(OutputDelta::Kind::kContent, header_, out);
      return;
    }
    Say(ends_.Take(), out);
    EndBody(out);
  }

 private:
  enum class Body : unsigned char { kContent, kThoughts, kCall };

  bool MayBeHeader() const {
    for (const std::string_view start : kStarts) {
      const size_t size = std::min(start.size(), header_.size());
      if (start.substr(0, size) == std::string_view(header_).substr(0, size)) return true;
    }
    return false;
  }

  void InHeader(char byte, std::vector<OutputDelta>& out) {
    header_ += byte;
    if (!MayBeHeader() || header_.size() > kMaxHarmonyHeaderBytes) {
      // A model that does not write messages.
      in_header_ = false;
      body_ = Body::kContent;
      const std::string text = std::exchange(header_, {});
      for (const char c : text) InBody(c, out);
      return;
    }
    if (!header_.ends_with(kMessage)) return;
    in_header_ = false;
    const bool to_function = header_.find("to=functions.") != std::string::npos;
    const bool analysis = header_.find("<|channel|>analysis") != std::string::npos;
    body_ = reads_calls_ && to_function ? Body::kCall : reads_thoughts_ && analysis ? Body::kThoughts : Body::kContent;
    held_.clear();
  }

  void InBody(char byte, std::vector<OutputDelta>& out) {
    std::string text;
    const int mark = ends_.Feed(byte, text);
    Say(text, out);
    if (mark < 0) return;
    EndBody(out);
    in_header_ = true;
    header_.clear();
  }

  void Say(const std::string& text, std::vector<OutputDelta>& out) {
    if (body_ == Body::kCall) {
      held_ += text;
    } else {
      AddText(body_ == Body::kThoughts ? OutputDelta::Kind::kReasoning : OutputDelta::Kind::kContent, text, out);
    }
  }

  void EndBody(std::vector<OutputDelta>& out) {
    if (body_ != Body::kCall) return;
    body_ = Body::kContent;
    constexpr std::string_view kTo = "to=functions.";
    std::string_view name = std::string_view(header_).substr(header_.find(kTo) + kTo.size());
    name = name.substr(0, name.find_first_of(" <\n"));
    const std::optional<OrderedJson> arguments = ParseOrdered(TrimJsonSpace(held_));
    if (name.empty() || !arguments || !arguments->is_object()) {
      AddText(OutputDelta::Kind::kContent, held_, out);
    } else {
      std::vector<OutputDelta> calls;
      calls.push_back({.kind = OutputDelta::Kind::kToolCall,
                       .text = arguments->dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
                       .name = std::string(name)});
      AddCalls(std::move(calls), out);
    }
    held_.clear();
  }

  const bool reads_calls_;
  const bool reads_thoughts_;
  bool in_header_ = true;
  Body body_ = Body::kContent;
  std::string header_;
  std::string held_;  // of a call
  MarkSet ends_{"<|end|>", "<|call|>", "<|return|>"};
};

// <|START_RESPONSE|> and <|END_RESPONSE|> of Command R.
class ResponseParser : public OutputParser {
 public:
  explicit ResponseParser(std::unique_ptr<OutputParser> rest) : rest_(std::move(rest)) {}

  void Append(std::string_view text, std::vector<OutputDelta>& out) override {
    std::string kept;
    for (const char byte : text) (void)marks_.Feed(byte, kept);
    rest_->Append(kept, out);
  }
  void Finish(std::vector<OutputDelta>& out) override {
    rest_->Append(marks_.Take(), out);
    rest_->Finish(out);
  }

 private:
  const std::unique_ptr<OutputParser> rest_;
  MarkSet marks_{"<|START_RESPONSE|>", "<|END_RESPONSE|>"};
};

}  // namespace

std::unique_ptr<OutputParser> MakeHarmonyParser(const OutputWish& wish) {
  return std::make_unique<HarmonyParser>(wish);
}

std::unique_ptr<OutputParser> MakeResponseParser(std::unique_ptr<OutputParser> rest) {
  return std::make_unique<ResponseParser>(std::move(rest));
}

}  // namespace adit::server
