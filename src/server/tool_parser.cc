// Calls of tools in a model's text. A call is told when it is complete.
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "server/json_fields.h"
#include "server/mark_scanner.h"
#include "server/output_parser.h"

namespace adit::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxCallBytes = size_t{4} << 20;

// {"name": ..., "arguments" or "parameters": ...} as a call; nothing for anything else.
std::optional<OutputDelta> CallOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) return std::nullopt;
  OutputDelta call{.kind = OutputDelta::Kind::kToolCall, .text = "{}", .name = name->get<std::string>()};
  for (const char* key : {"arguments", "parameters"}) {
    const auto arguments = json.find(key);
    if (arguments == json.end() || arguments->is_null()) continue;
    if (arguments->is_object()) {
      call.text = arguments->dump(-1, ' ', false, Json::error_handler_t::replace);
    } else if (arguments->is_string() && Json::accept(arguments->get_ref<const std::string&>())) {
      call.text = arguments->get<std::string>();
    } else {
      return std::nullopt;
    }
    break;
  }
  return call;
}

std::optional<Json> ParseOrdered(std::string_view text) {
  // The one that bounds the depth; the other keeps the order of the arguments.
  if (text.size() > kMaxCallBytes || !ParseJson(text).ok()) return std::nullopt;
  return Json::parse(text);
}

// What all syntaxes share: which calls count, and that of several only the first may be wanted.
class ToolParser : public OutputParser {
 public:
  explicit ToolParser(bool parallel) : parallel_(parallel) {}

 protected:
  void AddCalls(std::vector<OutputDelta> calls, std::vector<OutputDelta>& out) {
    for (OutputDelta& call : calls) {
      if (num_calls_++ > 0 && !parallel_) continue;
      out.push_back(std::move(call));
    }
  }
  size_t num_calls() const { return num_calls_; }

 private:
  const bool parallel_;
  size_t num_calls_ = 0;
};

// <tool_call>{...}</tool_call>, one for each call, among other text. White space around a call is dropped.
class HermesParser : public ToolParser {
 public:
  using ToolParser::ToolParser;

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
    if (num_calls() > 0 && rest.find_first_not_of(" \n\r\t") == std::string::npos) return;
    AddText(OutputDelta::Kind::kContent, rest, out);
  }

 private:
  static constexpr std::string_view kOpen = "<tool_call>";
  static constexpr std::string_view kClose = "</tool_call>";

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
    if (!std::string_view(held_).ends_with(kClose)) return;
    const std::string_view body = std::string_view(held_).substr(0, held_.size() - kClose.size());
    if (!Tell(body, out)) AddText(OutputDelta::Kind::kContent, before_ + held_, out);
    in_call_ = false;
  }

  bool Tell(std::string_view body, std::vector<OutputDelta>& out) {
    const std::optional<Json> json = ParseOrdered(body);
    std::optional<OutputDelta> call = json ? CallOf(*json) : std::nullopt;
    if (!call) return false;
    std::vector<OutputDelta> calls;
    calls.push_back(*std::move(call));
    AddCalls(std::move(calls), out);
    return true;
  }

  bool in_call_ = false;
  MarkScanner open_{kOpen, /*with_space=*/true};
  std::string before_;  // the mark of the call, and the white space in front of it
  std::string held_;    // of the call so far
};

// Text that is nothing but calls, perhaps behind a mark: it begins as JSON does, and is looked at when it has ended.
class WholeTextParser : public ToolParser {
 public:
  WholeTextParser(bool parallel, std::string_view mark, char first)
      : ToolParser(parallel), mark_(mark), first_(first) {}

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
    if (ReadCalls(body, calls)) {
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

  // Objects and lists of objects, with ';', ',' or white space between them. False unless all of it is calls.
  static bool ReadCalls(std::string_view text, std::vector<OutputDelta>& calls) {
    while (true) {
      while (!text.empty() && (IsJsonSpace(text.front()) || text.front() == ';' || text.front() == ',')) {
        text.remove_prefix(1);
      }
      if (text.empty()) return !calls.empty();
      const size_t size = ValueSize(text);
      const std::optional<Json> json = size == 0 ? std::nullopt : ParseOrdered(text.substr(0, size));
      if (!json) return false;
      const Json list = json->is_array() ? *json : Json::array({*json});
      for (const Json& item : list) {
        std::optional<OutputDelta> call = CallOf(item);
        if (!call) return false;
        calls.push_back(*std::move(call));
      }
      text.remove_prefix(size);
    }
  }

  // Bytes of the object or list that `text` begins with; 0 when it has no end.
  static size_t ValueSize(std::string_view text) {
    if (text.front() != '{' && text.front() != '[') return 0;
    int64_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char byte = text[i];
      if (in_string) {
        if (byte == '\\') {
          ++i;
        } else if (byte == '"') {
          in_string = false;
        }
      } else if (byte == '"') {
        in_string = true;
      } else if (byte == '{' || byte == '[') {
        ++depth;
      } else if (byte == '}' || byte == ']') {
        if (--depth == 0) return i + 1;
      }
    }
    return 0;
  }

  const std::string_view mark_;
  const char first_;
  bool plain_ = false;     // no calls: all is content
  bool begun_ = false;     // what is no white space at the start has been seen
  size_t num_marked_ = 0;  // bytes of the mark
  std::string held_;
};

// [TOOL_CALLS][{...}] behind other text, which is content.
class MistralParser : public ToolParser {
 public:
  explicit MistralParser(bool parallel) : ToolParser(parallel), calls_(parallel, kMark, '[') {}

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
  switch (wish.tools) {
    case ToolSyntax::kLlama3:
      return std::make_unique<WholeTextParser>(wish.parallel_calls, "<|python_tag|>", '{');
    case ToolSyntax::kMistral:
      return std::make_unique<MistralParser>(wish.parallel_calls);
    case ToolSyntax::kHermes:
    case ToolSyntax::kNone:
      break;
  }
  return std::make_unique<HermesParser>(wish.parallel_calls);
}

}  // namespace adit::server
