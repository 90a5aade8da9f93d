#include "grammar/schema_disjoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace adit::grammar {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMaxDepth = 8;
// Pairs of members looked at: alternatives with many members are compared with each other.
constexpr int kMaxPairs = 4096;

class Comparison {
 public:
  explicit Comparison(const FollowRef& follow) : follow_(follow) {}

  bool Disjoint(const OrderedJson& a_ref, const OrderedJson& b_ref, int depth) {
    if (depth > kMaxDepth || ++num_pairs_ > kMaxPairs) return false;
    const OrderedJson* a = Followed(a_ref);
    const OrderedJson* b = Followed(b_ref);
    if (a == nullptr || b == nullptr) return false;
    const OrderedJson* a_values = ValuesOf(*a, a_const_);
    const OrderedJson* b_values = ValuesOf(*b, b_const_);
    if (a_values != nullptr && b_values != nullptr) return !Share(*a_values, *b_values);
    const std::vector<std::string> a_types = a_values != nullptr ? TypesOfValues(*a_values) : TypesOf(*a);
    const std::vector<std::string> b_types = b_values != nullptr ? TypesOfValues(*b_values) : TypesOf(*b);
    if (a_types.empty() || b_types.empty()) return false;
    if (!Overlap(a_types, b_types)) return true;
    const bool are_objects = a_types == std::vector<std::string>{"object"} && b_types == a_types;
    return are_objects && HaveDisjointMember(*a, *b, depth);
  }

 private:
  const OrderedJson* Followed(const OrderedJson& schema) const {
    const OrderedJson* at = &schema;
    for (int i = 0; i < kMaxDepth; ++i) {
      if (!at->is_object()) return nullptr;
      const auto ref = at->find("$ref");
      if (ref == at->end()) return at;
      at = follow_(*ref);
      if (at == nullptr) return nullptr;
    }
    return nullptr;
  }

  // The list of values that a schema names; null where it names none. `room` holds the list of a const.
  static const OrderedJson* ValuesOf(const OrderedJson& schema, OrderedJson& room) {
    if (const auto value = schema.find("const"); value != schema.end()) {
      room = OrderedJson::array({*value});
      return &room;
    }
    const auto values = schema.find("enum");
    return values != schema.end() && values->is_array() ? &*values : nullptr;
  }

  static bool Share(const OrderedJson& a, const OrderedJson& b) {
    return std::any_of(a.begin(), a.end(), [&b](const OrderedJson& value) {
      return std::any_of(b.begin(), b.end(), [&value](const OrderedJson& other) { return value == other; });
    });
  }

  static std::vector<std::string> TypesOf(const OrderedJson& schema) {
    const auto type = schema.find("type");
    if (type == schema.end()) return {};
    if (type->is_string()) return {type->get<std::string>()};
    std::vector<std::string> types;
    if (!type->is_array()) return {};
    for (const OrderedJson& one : *type) {
      if (one.is_string()) types.push_back(one.get<std::string>());
    }
    return types;
  }

  static std::vector<std::string> TypesOfValues(const OrderedJson& values) {
    std::vector<std::string> types;
    for (const OrderedJson& value : values) {
      const char* type = value.is_string()    ? "string"
                         : value.is_number()  ? "number"
                         : value.is_boolean() ? "boolean"
                         : value.is_null()    ? "null"
                         : value.is_array()   ? "array"
                                              : "object";
      types.emplace_back(type);
    }
    return types;
  }

  static bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto plain = [](const std::string& type) { return type == "integer" ? std::string("number") : type; };
    return std::any_of(a.begin(), a.end(), [&](const std::string& one) {
      return std::any_of(b.begin(), b.end(), [&](const std::string& other) { return plain(one) == plain(other); });
    });
  }

  static bool Requires(const OrderedJson& schema, const std::string& name) {
    const auto required = schema.find("required");
    if (required == schema.end() || !required->is_array()) return false;
    return std::any_of(required->begin(), required->end(), [&name](const OrderedJson& one) { return one == name; });
  }

  bool HaveDisjointMember(const OrderedJson& a, const OrderedJson& b, int depth) {
    const auto a_members = a.find("properties");
    const auto b_members = b.find("properties");
    if (a_members == a.end() || b_members == b.end() || !a_members->is_object() || !b_members->is_object()) {
      return false;
    }
    for (const auto& [name, schema] : a_members->items()) {
      const auto other = b_members->find(name);
      if (other == b_members->end() || !Requires(a, name) || !Requires(b, name)) continue;
      if (Disjoint(schema, *other, depth + 1)) return true;
    }
    return false;
  }

  const FollowRef& follow_;
  int num_pairs_ = 0;
  OrderedJson a_const_;
  OrderedJson b_const_;
};

}  // namespace

bool AreDisjoint(const OrderedJson& a, const OrderedJson& b, const FollowRef& follow) {
  return Comparison(follow).Disjoint(a, b, 0);
}

}  // namespace adit::grammar
