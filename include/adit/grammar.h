#ifndef ADIT_GRAMMAR_H_
#define ADIT_GRAMMAR_H_

#include <cstdint>
#include <memory>
#include <string>

namespace adit {

// What an answer's text is held to, and how that is written down.
enum class GrammarKind : uint8_t {
  kJsonSchema,     // a JSON Schema, of which what cannot be enforced is refused by name
  kJsonObject,     // any JSON object; the text is empty
  kRegex,          // a regular expression for the whole text
  kChoice,         // a JSON list of strings, one of which the text is
  kEbnf,           // rules as `root ::= "yes" | "no"`, as llama.cpp's GBNF
  kStructuralTag,  // XGrammar's structural tags: a JSON object with "format"
};

// Thoughts that stand before the text that is held to the grammar, between <think> and </think>.
enum class GrammarThoughts : uint8_t {
  kNone,
  kMay,     // there may be some
  kOpened,  // the prompt has written the <think>
};

struct GrammarSpec {
  GrammarKind kind = GrammarKind::kJsonObject;
  std::string text;
  GrammarThoughts thoughts = GrammarThoughts::kNone;
  // Of JSON: white space may stand between its tokens; else there is one space behind ',' and ':'.
  bool any_whitespace = true;
  // Control tokens that known formats of tool calls are made of may be written where the grammar has their text.
  bool with_marks = false;

  bool operator==(const GrammarSpec&) const = default;
};

// A grammar, compiled for one model's vocabulary. Immutable; requests share it.
class Grammar;
using GrammarPtr = std::shared_ptr<const Grammar>;

}  // namespace adit

#endif  // ADIT_GRAMMAR_H_
