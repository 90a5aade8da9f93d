#ifndef ADIT_GRAMMAR_SCHEMA_KEYWORDS_H_
#define ADIT_GRAMMAR_SCHEMA_KEYWORDS_H_

#include <cstdint>
#include <string_view>

namespace adit::grammar {

// What a keyword of JSON Schema (2020-12, and what older drafts and OpenAPI have beside it) is to us.
enum class Keyword : uint8_t {
  kUnknown,      // of no standard: says nothing of what is valid
  kAnnotation,   // says nothing either
  kDefinitions,  // schemas for others to refer to
  kType,
  kReference,    // $ref
  kValues,       // const, enum
  kAlternative,  // anyOf, oneOf, allOf
  kString,       // of one type's values
  kNumber,
  kArray,
  kObject,
  kUnsupported,  // says what is valid, and cannot be enforced
};
Keyword KeywordOf(std::string_view name);

// What `format` is to a string.
enum class StringFormat : uint8_t {
  kUnknown,  // of no standard: an annotation
  kEnforced,
  kUnsupported,  // of the standard, and cannot be enforced
};
StringFormat FormatOf(std::string_view name);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_SCHEMA_KEYWORDS_H_
