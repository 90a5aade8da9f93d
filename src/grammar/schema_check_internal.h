#ifndef ADIT_GRAMMAR_SCHEMA_CHECK_INTERNAL_H_
#define ADIT_GRAMMAR_SCHEMA_CHECK_INTERNAL_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "adit/status.h"

// What writes a schema anew without looking into others. A place is a JSON pointer behind '#', for messages.
namespace adit::grammar {

// A value as messages show it.
std::string Told(const nlohmann::ordered_json& value);

// Whether a value is of a type of JSON Schema; 1.0 is an integer.
bool IsType(const nlohmann::ordered_json& value, const std::string& type);

struct Counts {
  int64_t least = 0;
  int64_t most = -1;  // -1: no bound
};

// The counts under two keywords such as minItems and maxItems.
Result<Counts> CountsOf(const nlohmann::ordered_json& schema, const char* least, const char* most,
                        const std::string& place);

// That a keyword cannot be enforced beside another.
Status Beside(const char* key, const char* other, const std::string& place);

// A regular expression in ASCII. Precondition: CheckRegex has taken it.
std::string WithoutForeign(const std::string& regex);

// Schemas of these types, with the keywords that concern them.
Result<nlohmann::ordered_json> WriteString(const nlohmann::ordered_json& schema, const std::string& place);
Result<nlohmann::ordered_json> WriteInteger(const nlohmann::ordered_json& schema, const std::string& place);
Result<nlohmann::ordered_json> WriteNumber(const nlohmann::ordered_json& schema, const std::string& place);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_SCHEMA_CHECK_INTERNAL_H_
