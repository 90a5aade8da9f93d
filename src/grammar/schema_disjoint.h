#ifndef ADIT_GRAMMAR_SCHEMA_DISJOINT_H_
#define ADIT_GRAMMAR_SCHEMA_DISJOINT_H_

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace adit::grammar {

// What a $ref stands for; null when there is no such schema.
using FollowRef = std::function<const nlohmann::ordered_json*(const nlohmann::ordered_json& ref)>;

// Whether no value can be valid under both schemas, as far as that is easy to see: their types differ, or their listed
// values do, or they are objects that must have one member in common and the schemas of that member are disjoint.
bool AreDisjoint(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b, const FollowRef& follow);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_SCHEMA_DISJOINT_H_
