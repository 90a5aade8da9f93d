#ifndef ADIT_SERVER_OUTPUT_PARSER_H_
#define ADIT_SERVER_OUTPUT_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/output_format.h"

namespace adit::server {

// What a stretch of a model's text adds to an answer. Deltas joined are the answer.
struct OutputDelta {
  enum class Kind : unsigned char {
    kContent,
    kReasoning,
    kToolCall,  // a whole call: `name`, and in `text` its arguments, a JSON object
  };
  Kind kind = Kind::kContent;
  std::string text;
  std::string name;
};

// Takes the text of one answer apart, in pieces. However the text is cut into pieces, the deltas joined are the same:
// the text is read byte by byte. Text that looks like a call and is none, in the end, is content.
class OutputParser {
 public:
  virtual ~OutputParser() = default;
  virtual void Append(std::string_view text, std::vector<OutputDelta>& out) = 0;
  // What is held back at the end of the text.
  virtual void Finish(std::vector<OutputDelta>& out) = 0;
};

// What stands around thoughts; empty without them.
struct ReasoningMarks {
  std::string_view open;
  std::string_view close;
};
ReasoningMarks MarksOf(ReasoningSyntax syntax);

// A parser for what a request wishes; null when the text is all content.
std::unique_ptr<OutputParser> MakeOutputParser(const OutputWish& wish);

// Appends a delta, joined with the last one where both are content or both are thoughts. Nothing for empty text.
void AddText(OutputDelta::Kind kind, std::string_view text, std::vector<OutputDelta>& out);

// How a parser goes on behind another one.
std::unique_ptr<OutputParser> MakeReasoningParser(ReasoningSyntax syntax, std::unique_ptr<OutputParser> rest);
std::unique_ptr<OutputParser> MakeToolParser(const OutputWish& wish);

}  // namespace adit::server

#endif  // ADIT_SERVER_OUTPUT_PARSER_H_
