#ifndef ADIT_GRAMMAR_SCHEMA_CHECK_H_
#define ADIT_GRAMMAR_SCHEMA_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::grammar {

inline constexpr int kMaxSchemaDepth = 64;         // of its JSON
inline constexpr int64_t kMaxSchemaNodes = 4096;   // schemas in it
inline constexpr int64_t kMaxSchemaItems = 65536;  // minItems, minLength and their maxima
inline constexpr size_t kMaxSchemaValues = 4096;   // of all enums together

// Reads a JSON Schema and writes one of which a compiler enforces every part, and whose texts are all valid under the
// first. Annotations are left out, references become definitions, `type` is told where it follows from the other
// keywords. Some valid texts may be lost:
// - an object with `properties` has no others unless additionalProperties says so, and they come in their order;
// - a pattern is that of the whole string; `oneOf` becomes `anyOf`, where it can be seen to be the same;
// - a tuple (`prefixItems`) has no more items unless `items` says so.
// InvalidArgument for what is no schema, or allows nothing; Unsupported for a keyword that cannot be enforced, or not
// beside another; both with the place, as "#/properties/a".
Result<std::string> CheckSchema(std::string_view schema);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_SCHEMA_CHECK_H_
