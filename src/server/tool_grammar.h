#ifndef ADIT_SERVER_TOOL_GRAMMAR_H_
#define ADIT_SERVER_TOOL_GRAMMAR_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adit/status.h"
#include "server/constraint_fields.h"
#include "server/output_format.h"

namespace adit::server {

// A tool that may be called.
struct CallableTool {
  std::string name;
  std::string parameters;  // a JSON schema; empty: none are taken
  bool strict = false;     // arguments are held to the schema, and what in it cannot be enforced is an error
  std::string param;       // where the request names it
};

enum class CallWish : unsigned char {
  kMay,   // text or calls
  kMust,  // calls alone
};

struct ToolGrammarWish {
  ToolSyntax syntax = ToolSyntax::kNone;
  CallWish calls = CallWish::kMay;
  bool parallel = true;  // more than one call
  std::vector<CallableTool> tools;
  std::optional<Constraint> text;  // what an answer that is no call is held to
};

// Whether calls of this syntax can be held to a grammar.
bool HasToolGrammar(ToolSyntax syntax);

// The grammar of an answer as the model writes it: calls as its syntax has them, and between or instead of them text.
// The error's param is in `param`. Unsupported, by name, for a schema of a strict tool that cannot be enforced.
Result<Constraint> MakeToolGrammar(const ToolGrammarWish& wish, std::string& param);

}  // namespace adit::server

#endif  // ADIT_SERVER_TOOL_GRAMMAR_H_
