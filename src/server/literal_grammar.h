#ifndef ADIT_SERVER_LITERAL_GRAMMAR_H_
#define ADIT_SERVER_LITERAL_GRAMMAR_H_

#include <cstdint>
#include <string>

#include "adit/status.h"

namespace adit::server {

// How calls write values that are no JSON.
enum class LiteralSyntax : uint8_t {
  kPython,  // a=1, b="x", c={"k": True}: what stands between the parentheses
  kGemma,   // {a:1,b:<escape>x<escape>}
};

// Rules (EBNF, as GrammarKind::kEbnf takes them) for the arguments that a JSON schema describes, written in a
// language's literals: properties in their order, required ones among them, no others unless the schema is open and has
// none of its own. Of a schema `type`, `properties`, `required`, `items`, `enum`, `const`, `anyOf`, and
// `additionalProperties` false are enforced. Unsupported, with the name and the place, for what else restricts values,
// and for names of arguments that the syntax cannot write.
Result<std::string> LiteralRules(const std::string& schema, LiteralSyntax syntax);

}  // namespace adit::server

#endif  // ADIT_SERVER_LITERAL_GRAMMAR_H_
