#ifndef ADIT_SERVER_TOOL_PARSER_INTERNAL_H_
#define ADIT_SERVER_TOOL_PARSER_INTERNAL_H_

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/mark_scanner.h"
#include "server/output_parser.h"

namespace adit::server {

using OrderedJson = nlohmann::ordered_json;

// Most bytes of a call that is read as JSON.
inline constexpr size_t kMaxCallBytes = size_t{4} << 20;

// Calls in a text that is nothing else. False when it is not calls.
using ReadCalls = bool (*)(std::string_view text, std::vector<OutputDelta>& calls);

// JSON whose members keep their order; nothing for what is none, too long or too deep.
std::optional<OrderedJson> ParseOrdered(std::string_view text);

// An object as a call, its name under `name_key` and its arguments under "arguments" or "parameters"; nothing for
// anything else.
std::optional<OutputDelta> CallOf(const OrderedJson& json, const char* name_key = "name");

// Objects and lists of objects, with ';', ',' or white space between them.
bool ReadJsonCalls(std::string_view text, std::vector<OutputDelta>& calls);
// [name(a=1, b="x"), ...]
bool ReadPythonCalls(std::string_view text, std::vector<OutputDelta>& calls);
// call:name{a:1,b:<escape>x<escape>}
bool ReadGemmaCalls(std::string_view text, std::vector<OutputDelta>& calls);
// What stands between <｜tool▁calls▁begin｜> and <｜tool▁calls▁end｜>.
bool ReadDeepSeekCalls(std::string_view text, std::vector<OutputDelta>& calls);
// [{"tool_name", "parameters"}]
bool ReadCommandCalls(std::string_view text, std::vector<OutputDelta>& calls);

inline std::string_view TrimJsonSpace(std::string_view text) {
  while (!text.empty() && IsJsonSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsJsonSpace(text.back())) text.remove_suffix(1);
  return text;
}

// What all syntaxes share: of several calls only the first may be wanted.
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

// Thoughts, commentary and answers of gpt-oss, in messages of their own.
std::unique_ptr<OutputParser> MakeHarmonyParser(const OutputWish& wish);
// Drops what Command R puts around its answers.
std::unique_ptr<OutputParser> MakeResponseParser(std::unique_ptr<OutputParser> rest);

}  // namespace adit::server

#endif  // ADIT_SERVER_TOOL_PARSER_INTERNAL_H_
