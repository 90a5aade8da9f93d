#include "grammar/schema_check.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "grammar/regex_check.h"
#include "grammar/schema_check_internal.h"
#include "grammar/schema_disjoint.h"
#include "grammar/schema_keywords.h"

namespace adit::grammar {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kMaxReferences = 512;

Result<OrderedJson> ParseSchema(std::string_view text) {
  bool too_deep = false;
  const auto keep = [&too_deep](int depth, OrderedJson::parse_event_t, OrderedJson&) {
    too_deep = too_deep || depth > kMaxSchemaDepth;
    return depth <= kMaxSchemaDepth;
  };
  try {
    OrderedJson json = OrderedJson::parse(text, keep);
    if (too_deep) return InvalidArgument("schema: it lies deeper than {} levels", kMaxSchemaDepth);
    return json;
  } catch (const OrderedJson::parse_error& error) {
    return InvalidArgument("schema: not valid JSON at byte {}", error.byte);
  } catch (const OrderedJson::exception&) {
    return InvalidArgument("schema: a number in it is out of range");
  }
}

constexpr const char* kTypes[] = {"string", "number", "integer", "boolean", "null", "array", "object"};

// One schema after another, each written anew. A place is a JSON pointer, behind '#'.
class SchemaWriter {
 public:
  explicit SchemaWriter(const OrderedJson& root) : root_(root) {}

  Result<std::string> Write() {
    ADIT_ASSIGN_OR_RETURN(OrderedJson root, Visit(root_, "#", kRootNode));
    OrderedJson definitions = OrderedJson::object();
    while (!waiting_.empty()) {
      const std::string pointer = waiting_.front();
      waiting_.pop_front();
      const int number = numbers_.at(pointer);
      ADIT_ASSIGN_OR_RETURN(definitions[NameOf(number)], Visit(*Find(pointer), "#" + pointer, number));
    }
    ADIT_RETURN_IF_ERROR(CheckCircles());
    if (!definitions.empty()) root["$defs"] = std::move(definitions);
    return root.dump();
  }

 private:
  static constexpr int kRootNode = -1;
  static constexpr int kNoNode = -2;  // of a schema below a value: what it refers to comes later in the text

  static std::string NameOf(int number) { return "d" + std::to_string(number); }

  // `node`: the definition that this schema is, or is an alternative of.
  Result<OrderedJson> Visit(const OrderedJson& schema, const std::string& place, int node) {
    if (++num_nodes_ > kMaxSchemaNodes) {
      return InvalidArgument("schema: at '{}': more than {} schemas", place, kMaxSchemaNodes);
    }
    if (schema.is_boolean() && schema.get<bool>()) return OrderedJson::object();
    if (schema.is_boolean()) return InvalidArgument("schema: at '{}': false allows no value", place);
    if (!schema.is_object()) {
      return InvalidArgument("schema: at '{}': {} is neither an object nor true", place, Told(schema));
    }
    for (const auto& [key, value] : schema.items()) {
      // The root may tell where it lives: nothing is read from there.
      if (KeywordOf(key) == Keyword::kUnsupported && !(key == "$id" && place == "#")) {
        return Unsupported("schema: at '{}': the keyword '{}' cannot be enforced", place, key);
      }
    }
    if (schema.contains("$ref")) return VisitReference(schema, place, node);
    if (schema.contains("const") || schema.contains("enum")) return VisitValues(schema, place);
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      if (schema.contains(key)) return VisitAlternatives(schema, key, place, node);
    }
    return VisitTypes(schema, place);
  }

  // Nothing but `mine` and `also` may say what is valid.
  Status CheckAlone(const OrderedJson& schema, const char* mine, const char* also, const std::string& place) const {
    for (const auto& [key, value] : schema.items()) {
      const Keyword keyword = KeywordOf(key);
      if (key == mine || key == also || keyword <= Keyword::kDefinitions || key == "$id") continue;
      return Unsupported("schema: at '{}': the keyword '{}' beside '{}' cannot be enforced", place, key, mine);
    }
    return Status();
  }

  Result<OrderedJson> VisitReference(const OrderedJson& schema, const std::string& place, int node) {
    ADIT_RETURN_IF_ERROR(CheckAlone(schema, "$ref", "", place));
    const OrderedJson& ref = schema["$ref"];
    const std::optional<std::string> pointer = PointerOf(ref);
    if (!pointer) {
      return InvalidArgument("schema: at '{}': $ref is {}; it is a place in this schema, as \"#/$defs/a\"", place,
                             Told(ref));
    }
    if (Find(*pointer) == nullptr) {
      return InvalidArgument("schema: at '{}': $ref is {}, which is not there", place, Told(ref));
    }
    const auto [entry, is_new] = numbers_.try_emplace(*pointer, static_cast<int>(numbers_.size()));
    if (is_new) waiting_.push_back(*pointer);
    if (static_cast<int64_t>(numbers_.size()) > kMaxReferences) {
      return InvalidArgument("schema: at '{}': references to more than {} places", place, kMaxReferences);
    }
    if (node != kNoNode) edges_[node].insert(entry->second);
    return OrderedJson{{"$ref", "#/$defs/" + NameOf(entry->second)}};
  }

  // The JSON pointer behind a '#', percent escapes undone; nothing for a reference to elsewhere.
  static std::optional<std::string> PointerOf(const OrderedJson& ref) {
    if (!ref.is_string()) return std::nullopt;
    const auto& text = ref.get_ref<const std::string&>();
    if (text != "#" && !text.starts_with("#/")) return std::nullopt;
    std::string pointer;
    for (size_t i = 1; i < text.size(); ++i) {
      const auto hex = [&text](size_t at) {
        return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
      };
      if (text[i] == '%' && hex(i + 1) && hex(i + 2)) {
        pointer += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        pointer += text[i];
      }
    }
    return pointer;
  }

  const OrderedJson* Find(const std::string& pointer) const {
    try {
      const OrderedJson::json_pointer place(pointer);
      return root_.contains(place) ? &root_.at(place) : nullptr;
    } catch (const OrderedJson::exception&) {
      return nullptr;
    }
  }

  Result<OrderedJson> VisitValues(const OrderedJson& schema, const std::string& place) {
    const char* key = schema.contains("const") ? "const" : "enum";
    ADIT_RETURN_IF_ERROR(CheckAlone(schema, key, "type", place));
    OrderedJson values = std::string_view(key) == "const" ? OrderedJson::array({schema["const"]}) : schema["enum"];
    if (!values.is_array()) return InvalidArgument("schema: at '{}': enum is {}, no list", place, Told(values));
    num_values_ += values.size();
    if (num_values_ > kMaxSchemaValues) {
      return InvalidArgument("schema: at '{}': enums of more than {} values", place, kMaxSchemaValues);
    }
    if (schema.contains("type")) {
      ADIT_ASSIGN_OR_RETURN(const std::vector<std::string> types, TypesOf(schema["type"], place));
      OrderedJson kept = OrderedJson::array();
      for (const OrderedJson& value : values) {
        if (std::any_of(types.begin(), types.end(), [&](const std::string& t) { return IsType(value, t); })) {
          kept.push_back(value);
        }
      }
      values = std::move(kept);
    }
    if (values.empty()) return InvalidArgument("schema: at '{}': {} allows no value", place, key);
    return OrderedJson{{"enum", std::move(values)}};
  }

  Result<OrderedJson> VisitAlternatives(const OrderedJson& schema, const char* key, const std::string& place,
                                        int node) {
    ADIT_RETURN_IF_ERROR(CheckAlone(schema, key, "type", place));
    const OrderedJson& list = schema[key];
    if (!list.is_array() || list.empty()) {
      return InvalidArgument("schema: at '{}': {} is {}; it is a list of schemas", place, key, Told(list));
    }
    const bool is_all = std::string_view(key) == "allOf";
    if (is_all && list.size() > 1) {
      return Unsupported("schema: at '{}': allOf of more than one schema cannot be enforced", place);
    }
    if (std::string_view(key) == "oneOf") ADIT_RETURN_IF_ERROR(CheckOneOf(list, place));
    OrderedJson options = OrderedJson::array();
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string at = fmt::format("{}/{}/{}", place, key, i);
      OrderedJson option = list[i];
      if (schema.contains("type")) ADIT_RETURN_IF_ERROR(NarrowType(schema["type"], option, at));
      ADIT_ASSIGN_OR_RETURN(OrderedJson written, Visit(option, at, node));
      options.push_back(std::move(written));
    }
    if (options.size() == 1) return options.front();
    return OrderedJson{{"anyOf", std::move(options)}};
  }

  // A type beside the alternatives is that of each of them.
  static Status NarrowType(const OrderedJson& type, OrderedJson& option, const std::string& place) {
    if (!option.is_object()) return Status();
    const auto own = option.find("type");
    if (own != option.end() && *own == type) return Status();
    const bool is_plain = own == option.end() && !option.contains("$ref") && !option.contains("anyOf") &&
                          !option.contains("oneOf") && !option.contains("allOf");
    if (!is_plain)
      return Unsupported("schema: at '{}': another type beside the alternatives cannot be enforced", place);
    option["type"] = type;
    return Status();
  }

  Status CheckOneOf(const OrderedJson& list, const std::string& place) const {
    const auto follow = [this](const OrderedJson& ref) -> const OrderedJson* {
      const std::optional<std::string> pointer = PointerOf(ref);
      return pointer ? Find(*pointer) : nullptr;
    };
    for (size_t i = 0; i < list.size(); ++i) {
      for (size_t k = i + 1; k < list.size(); ++k) {
        if (AreDisjoint(list[i], list[k], follow)) continue;
        return Unsupported(
            "schema: at '{}': the keyword 'oneOf' cannot be enforced: a value may be valid under both {} and {}; use "
            "anyOf",
            place, i, k);
      }
    }
    return Status();
  }

  static Result<std::vector<std::string>> TypesOf(const OrderedJson& type, const std::string& place) {
    std::vector<std::string> types;
    for (const OrderedJson& one : type.is_array() ? type : OrderedJson::array({type})) {
      const bool known = one.is_string() && std::any_of(std::begin(kTypes), std::end(kTypes),
                                                        [&one](const char* name) { return one == name; });
      if (!known) return InvalidArgument("schema: at '{}': type {} is none", place, Told(one));
      if (std::find(types.begin(), types.end(), one) == types.end()) types.push_back(one.get<std::string>());
    }
    if (types.empty()) return InvalidArgument("schema: at '{}': a list of no types allows no value", place);
    return types;
  }

  // What the keywords of one type tell of a schema that names none.
  Result<std::vector<std::string>> TypesFromKeywords(const OrderedJson& schema, const std::string& place) const {
    std::string type;
    std::string from;
    for (const auto& [key, value] : schema.items()) {
      const Keyword keyword = KeywordOf(key);
      const char* found = keyword == Keyword::kString   ? "string"
                          : keyword == Keyword::kNumber ? "number"
                          : keyword == Keyword::kArray  ? "array"
                          : keyword == Keyword::kObject ? "object"
                                                        : nullptr;
      if (found == nullptr) continue;
      if (!type.empty() && type != found) {
        return Unsupported("schema: at '{}': '{}' and '{}' are of different types; say which with 'type'", place, from,
                           key);
      }
      type = found;
      from = key;
    }
    if (type.empty()) return std::vector<std::string>();
    return std::vector<std::string>{type};
  }

  Result<OrderedJson> VisitTypes(const OrderedJson& schema, const std::string& place) {
    std::vector<std::string> types;
    if (const auto type = schema.find("type"); type != schema.end()) {
      ADIT_ASSIGN_OR_RETURN(types, TypesOf(*type, place));
    } else {
      ADIT_ASSIGN_OR_RETURN(types, TypesFromKeywords(schema, place));
    }
    if (types.empty()) return OrderedJson::object();
    OrderedJson options = OrderedJson::array();
    for (const std::string& type : types) {
      ADIT_ASSIGN_OR_RETURN(OrderedJson option, VisitType(schema, type, place));
      options.push_back(std::move(option));
    }
    if (options.size() == 1) return options.front();
    return OrderedJson{{"anyOf", std::move(options)}};
  }

  Result<OrderedJson> VisitType(const OrderedJson& schema, const std::string& type, const std::string& place) {
    if (type == "string") return WriteString(schema, place);
    if (type == "integer") return WriteInteger(schema, place);
    if (type == "number") return WriteNumber(schema, place);
    if (type == "array") return VisitArray(schema, place);
    if (type == "object") return VisitObject(schema, place);
    return OrderedJson{{"type", type}};
  }

  Result<OrderedJson> VisitArray(const OrderedJson& schema, const std::string& place) {
    if (const auto unique = schema.find("uniqueItems"); unique != schema.end() && *unique != false) {
      return Unsupported("schema: at '{}': the keyword 'uniqueItems' cannot be enforced", place);
    }
    OrderedJson out = {{"type", "array"}};
    ADIT_ASSIGN_OR_RETURN(const Counts counts, CountsOf(schema, "minItems", "maxItems", place));
    // Before 2020-12 a tuple was a list under `items`, and the rest `additionalItems`.
    const bool is_old = schema.contains("items") && schema["items"].is_array();
    const char* first = is_old ? "items" : "prefixItems";
    const char* rest = is_old ? "additionalItems" : schema.contains("items") ? "items" : "unevaluatedItems";
    size_t num_first = 0;
    if (schema.contains(first)) {
      const OrderedJson& list = schema[first];
      if (!list.is_array()) return InvalidArgument("schema: at '{}': {} is {}, no list", place, first, Told(list));
      num_first = list.size();
      if (num_first > 0) out["prefixItems"] = OrderedJson::array();
      for (size_t i = 0; i < num_first; ++i) {
        ADIT_ASSIGN_OR_RETURN(OrderedJson item, Visit(list[i], fmt::format("{}/{}/{}", place, first, i), kNoNode));
        out["prefixItems"].push_back(std::move(item));
      }
    }
    const bool needs_more = counts.least > static_cast<int64_t>(num_first);
    if (schema.contains(rest) && schema[rest] == false) {
      if (needs_more) return InvalidArgument("schema: at '{}': minItems asks for items that are forbidden", place);
      out["items"] = false;
    } else if (schema.contains(rest)) {
      ADIT_ASSIGN_OR_RETURN(out["items"], Visit(schema[rest], fmt::format("{}/{}", place, rest), kNoNode));
    } else if (num_first > 0 && !needs_more) {
      out["items"] = false;
    } else {
      out["items"] = OrderedJson::object();
    }
    return WithCounts(std::move(out), counts, num_first, place);
  }

  static Result<OrderedJson> WithCounts(OrderedJson out, Counts counts, size_t num_first, const std::string& place) {
    if (counts.least > 0) out["minItems"] = counts.least;
    if (counts.most < 0) return out;
    if (counts.most < static_cast<int64_t>(num_first)) {
      // The items behind are never there.
      if (counts.most == 0) return OrderedJson{{"type", "array"}, {"items", false}};
      out["prefixItems"].erase(out["prefixItems"].begin() + counts.most, out["prefixItems"].end());
      out["items"] = false;
    }
    if (out["items"] == false && out.contains("prefixItems")) return out;
    if (out["items"] == false && counts.least > 0) {
      return InvalidArgument("schema: at '{}': minItems asks for items that are forbidden", place);
    }
    out["maxItems"] = counts.most;
    return out;
  }

  Result<OrderedJson> VisitObject(const OrderedJson& schema, const std::string& place) {
    OrderedJson out = {{"type", "object"}};
    OrderedJson properties = OrderedJson::object();
    if (const auto members = schema.find("properties"); members != schema.end()) {
      if (!members->is_object()) return InvalidArgument("schema: at '{}': properties is no object", place);
      for (const auto& [name, member] : members->items()) {
        const std::string at = fmt::format("{}/properties/{}", place, ReplaceInvalidUtf8(name));
        if (member == false) return Unsupported("schema: at '{}': a property that is forbidden cannot be enforced", at);
        ADIT_ASSIGN_OR_RETURN(properties[name], Visit(member, at, kNoNode));
      }
    }
    const bool has_names = schema.contains("propertyNames");
    const bool has_patterns = schema.contains("patternProperties");
    const char* key = schema.contains("additionalProperties") ? "additionalProperties" : "unevaluatedProperties";
    OrderedJson others = properties.empty() && !has_patterns ? OrderedJson(true) : OrderedJson(false);
    if (has_names && !has_patterns) others = true;
    if (schema.contains(key)) {
      others = schema[key];
      if (others != false) {
        ADIT_ASSIGN_OR_RETURN(others, Visit(schema[key], fmt::format("{}/{}", place, key), kNoNode));
      }
    } else if (others == true) {
      others = OrderedJson::object();
    }
    ADIT_RETURN_IF_ERROR(AddRequired(schema, others, properties, out, place));
    if (has_patterns) ADIT_RETURN_IF_ERROR(AddPatterns(schema, properties, others, out, place));
    if (has_names) ADIT_RETURN_IF_ERROR(AddNames(schema, properties, out, place));
    const bool is_open = others != false || has_patterns;
    ADIT_RETURN_IF_ERROR(AddPropertyCounts(schema, is_open, properties, out, place));
    if (!properties.empty()) out["properties"] = std::move(properties);
    out["additionalProperties"] = std::move(others);
    return out;
  }

  static Status AddRequired(const OrderedJson& schema, const OrderedJson& others, OrderedJson& properties,
                            OrderedJson& out, const std::string& place) {
    const auto required = schema.find("required");
    if (required == schema.end() || required->empty()) return Status();
    if (!required->is_array()) return InvalidArgument("schema: at '{}': required is no list", place);
    std::set<std::string> seen;
    for (const OrderedJson& name : *required) {
      if (!name.is_string()) return InvalidArgument("schema: at '{}': required holds {}", place, Told(name));
      const auto& text = name.get_ref<const std::string&>();
      if (!seen.insert(text).second) continue;
      if (!properties.contains(text)) {
        const bool may_be = others != false || !schema.contains("additionalProperties");
        if (!may_be) return InvalidArgument("schema: at '{}': {} is required and not allowed", place, Told(name));
        if (schema.contains("patternProperties") || schema.contains("propertyNames")) {
          return Unsupported("schema: at '{}': that {} is required, which is no property, cannot be enforced", place,
                             Told(name));
        }
        properties[text] = others.is_object() ? others : OrderedJson::object();
      }
      out["required"].push_back(name);
    }
    return Status();
  }

  // Members that several schemas speak of would have to be valid under all of them.
  Status AddPatterns(const OrderedJson& schema, const OrderedJson& properties, const OrderedJson& others,
                     OrderedJson& out, const std::string& place) {
    const OrderedJson& patterns = schema["patternProperties"];
    if (!patterns.is_object()) return InvalidArgument("schema: at '{}': patternProperties is no object", place);
    if (patterns.size() > 1) return Beside("patternProperties", "another pattern", place);
    if (!properties.empty()) return Beside("patternProperties", "'properties'", place);
    if (others != false) return Beside("patternProperties", "other properties", place);
    if (schema.contains("propertyNames")) return Beside("patternProperties", "'propertyNames'", place);
    for (const auto& [pattern, member] : patterns.items()) {
      const std::string at = fmt::format("{}/patternProperties/{}", place, ReplaceInvalidUtf8(pattern));
      if (const Status status = CheckRegex(pattern, RegexUse::kJsonString); !status.ok()) {
        return Status(status.code(), fmt::format("schema: at '{}': {}", at, status.message()));
      }
      ADIT_ASSIGN_OR_RETURN(out["patternProperties"][WithoutForeign(pattern)], Visit(member, at, kNoNode));
    }
    return Status();
  }

  Status AddNames(const OrderedJson& schema, const OrderedJson& properties, OrderedJson& out,
                  const std::string& place) {
    if (!properties.empty()) return Beside("propertyNames", "'properties'", place);
    OrderedJson names = schema["propertyNames"];
    if (names.is_object() && !names.contains("type")) names["type"] = "string";
    ADIT_ASSIGN_OR_RETURN(out["propertyNames"], Visit(names, place + "/propertyNames", kNoNode));
    const OrderedJson& written = out["propertyNames"];
    const bool enforced = written.contains("pattern") || written.contains("format") || written.contains("minLength") ||
                          written.contains("maxLength");
    if (!enforced) {
      return Unsupported("schema: at '{}/propertyNames': no more than a pattern, a length or a format can be enforced",
                         place);
    }
    return Status();
  }

  static Status AddPropertyCounts(const OrderedJson& schema, bool is_open, const OrderedJson& properties,
                                  OrderedJson& out, const std::string& place) {
    ADIT_ASSIGN_OR_RETURN(const Counts counts, CountsOf(schema, "minProperties", "maxProperties", place));
    const auto num_required = static_cast<int64_t>(out.contains("required") ? out["required"].size() : 0);
    if (counts.least > num_required) {
      // Of other members the same may come twice, and counts once.
      if (is_open) return Beside("minProperties", "properties that are not named", place);
      if (counts.least > static_cast<int64_t>(properties.size())) {
        return InvalidArgument("schema: at '{}': minProperties is more than there can be", place);
      }
      out["minProperties"] = counts.least;
    }
    if (counts.most < 0) return Status();
    if (counts.most < num_required) {
      return InvalidArgument("schema: at '{}': maxProperties is less than the required ones", place);
    }
    if (is_open || counts.most < static_cast<int64_t>(properties.size())) out["maxProperties"] = counts.most;
    return Status();
  }

  // A schema that is itself, with nothing written in between, is none.
  Status CheckCircles() const {
    std::map<int, int> state;  // 1: on the way, 2: done
    std::vector<std::pair<int, std::set<int>::const_iterator>> way;
    for (const auto& [start, targets] : edges_) {
      if (state[start] != 0) continue;
      state[start] = 1;
      way.emplace_back(start, targets.begin());
      while (!way.empty()) {
        auto& [node, next] = way.back();
        const auto found = edges_.find(node);
        if (found == edges_.end() || next == found->second.end()) {
          state[node] = 2;
          way.pop_back();
          continue;
        }
        const int target = *next++;
        if (state[target] == 1) return InvalidArgument("schema: a reference leads back to itself");
        if (state[target] == 2) continue;
        state[target] = 1;
        const auto targets_of = edges_.find(target);
        if (targets_of == edges_.end()) {
          state[target] = 2;
        } else {
          way.emplace_back(target, targets_of->second.begin());
        }
      }
    }
    return Status();
  }

  const OrderedJson& root_;
  std::map<std::string, int> numbers_;  // of definitions, by pointer
  std::deque<std::string> waiting_;     // pointers that have not been visited
  std::map<int, std::set<int>> edges_;  // from a definition to those that may stand in its place
  int64_t num_nodes_ = 0;
  size_t num_values_ = 0;
};

}  // namespace

Result<std::string> CheckSchema(std::string_view schema) {
  ADIT_ASSIGN_OR_RETURN(const OrderedJson root, ParseSchema(schema));
  try {
    return SchemaWriter(root).Write();
  } catch (const OrderedJson::exception& error) {
    return InvalidArgument("schema: {}", ReplaceInvalidUtf8(error.what()));
  }
}

}  // namespace adit::grammar
