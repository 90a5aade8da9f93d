#include "grammar/schema_keywords.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace adit::grammar {
namespace {

struct KeywordRow {
  std::string_view name;
  Keyword keyword;
};

constexpr auto kKeywords = std::to_array<KeywordRow>({
    {"title", Keyword::kAnnotation},
    {"description", Keyword::kAnnotation},
    {"default", Keyword::kAnnotation},
    {"examples", Keyword::kAnnotation},
    {"example", Keyword::kAnnotation},
    {"deprecated", Keyword::kAnnotation},
    {"readOnly", Keyword::kAnnotation},
    {"writeOnly", Keyword::kAnnotation},
    {"discriminator", Keyword::kAnnotation},
    {"contentEncoding", Keyword::kAnnotation},
    {"contentMediaType", Keyword::kAnnotation},
    {"contentSchema", Keyword::kAnnotation},
    {"$comment", Keyword::kAnnotation},
    {"$schema", Keyword::kAnnotation},
    {"$vocabulary", Keyword::kAnnotation},
    {"$defs", Keyword::kDefinitions},
    {"definitions", Keyword::kDefinitions},
    {"type", Keyword::kType},
    {"$ref", Keyword::kReference},
    {"const", Keyword::kValues},
    {"enum", Keyword::kValues},
    {"anyOf", Keyword::kAlternative},
    {"oneOf", Keyword::kAlternative},
    {"allOf", Keyword::kAlternative},
    {"minLength", Keyword::kString},
    {"maxLength", Keyword::kString},
    {"pattern", Keyword::kString},
    {"format", Keyword::kString},
    {"minimum", Keyword::kNumber},
    {"maximum", Keyword::kNumber},
    {"exclusiveMinimum", Keyword::kNumber},
    {"exclusiveMaximum", Keyword::kNumber},
    {"multipleOf", Keyword::kNumber},
    {"items", Keyword::kArray},
    {"prefixItems", Keyword::kArray},
    {"additionalItems", Keyword::kArray},
    {"unevaluatedItems", Keyword::kArray},
    {"minItems", Keyword::kArray},
    {"maxItems", Keyword::kArray},
    {"uniqueItems", Keyword::kArray},
    {"properties", Keyword::kObject},
    {"required", Keyword::kObject},
    {"additionalProperties", Keyword::kObject},
    {"unevaluatedProperties", Keyword::kObject},
    {"patternProperties", Keyword::kObject},
    {"propertyNames", Keyword::kObject},
    {"minProperties", Keyword::kObject},
    {"maxProperties", Keyword::kObject},
    {"not", Keyword::kUnsupported},
    {"if", Keyword::kUnsupported},
    {"then", Keyword::kUnsupported},
    {"else", Keyword::kUnsupported},
    {"contains", Keyword::kUnsupported},
    {"minContains", Keyword::kUnsupported},
    {"maxContains", Keyword::kUnsupported},
    {"dependencies", Keyword::kUnsupported},
    {"dependentRequired", Keyword::kUnsupported},
    {"dependentSchemas", Keyword::kUnsupported},
    {"$id", Keyword::kUnsupported},
    {"id", Keyword::kUnknown},
    {"$anchor", Keyword::kAnnotation},
    {"$dynamicAnchor", Keyword::kUnsupported},
    {"$dynamicRef", Keyword::kUnsupported},
    {"$recursiveAnchor", Keyword::kUnsupported},
    {"$recursiveRef", Keyword::kUnsupported},
});

constexpr std::string_view kEnforcedFormats[] = {
    "date", "time",  "date-time", "duration",      "ipv4",         "ipv6",         "hostname",
    "uuid", "email", "uri",       "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"};
constexpr std::string_view kOtherFormats[] = {"idn-email", "idn-hostname", "iri", "iri-reference", "regex"};

template <size_t kCount>
bool Holds(const std::string_view (&list)[kCount], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

Keyword KeywordOf(std::string_view name) {
  const auto row =
      std::find_if(kKeywords.begin(), kKeywords.end(), [&](const KeywordRow& r) { return r.name == name; });
  return row == kKeywords.end() ? Keyword::kUnknown : row->keyword;
}

StringFormat FormatOf(std::string_view name) {
  if (Holds(kEnforcedFormats, name)) return StringFormat::kEnforced;
  return Holds(kOtherFormats, name) ? StringFormat::kUnsupported : StringFormat::kUnknown;
}

}  // namespace adit::grammar
