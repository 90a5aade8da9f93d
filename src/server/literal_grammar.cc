#include "server/literal_grammar.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMaxDepth = 16;
constexpr size_t kMaxRules = 2048;

// A text as EBNF writes it.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// What all grammars of a syntax share.
constexpr std::string_view kNumbers = R"(
integer ::= "-"? ("0" | [1-9] [0-9]*)
number ::= integer ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
)";
constexpr std::string_view kPythonRules = R"(
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\nrt'])* "\""
boolean ::= "True" | "False"
null ::= "None"
any ::= string | number | boolean | null | list | dict
list ::= "[" (any (", " any)*)? "]"
dict ::= "{" (string ": " any (", " string ": " any)*)? "}"
name ::= [a-zA-Z_] [a-zA-Z0-9_]*
object ::= (name "=" any (", " name "=" any)*)?
)";
constexpr std::string_view kGemmaRules = R"(
string ::= "<escape>" [^<]* "<escape>"
boolean ::= "true" | "false"
null ::= "null"
any ::= string | number | boolean | null | list | dict
list ::= "[" (any ("," any)*)? "]"
name ::= [a-zA-Z_] [a-zA-Z0-9_.\-]*
dict ::= "{" (name ":" any ("," name ":" any)*)? "}"
object ::= dict
)";

class RuleWriter {
 public:
  explicit RuleWriter(LiteralSyntax syntax) : is_python_(syntax == LiteralSyntax::kPython) {}

  Result<std::string> Write(const OrderedJson& schema) {
    ADIT_ASSIGN_OR_RETURN(const std::string root, Object(schema, "", /*is_root=*/true, 0));
    std::string text = "root ::= " + root + "\n";
    for (const std::string& rule : rules_) text += rule + "\n";
    return text + std::string(kNumbers) + std::string(is_python_ ? kPythonRules : kGemmaRules);
  }

 private:
  // The name of a rule for values of a schema.
  Result<std::string> Value(const OrderedJson& schema, const std::string& at, int depth) {
    if (depth > kMaxDepth || rules_.size() > kMaxRules) return Unsupported("schema: it is too large for this syntax");
    if (schema.is_boolean()) {
      return schema == true ? Result<std::string>("any") : Unsupported("schema: false at '{}'", at);
    }
    if (!schema.is_object()) return InvalidArgument("schema: '{}' is no schema", at);
    ADIT_RETURN_IF_ERROR(CheckKeywords(schema, at));
    if (schema.contains("const")) return Choice(OrderedJson::array({schema["const"]}));
    if (schema.contains("enum")) return Choice(schema["enum"]);
    if (schema.contains("anyOf")) return AnyOf(schema["anyOf"], at + "/anyOf", depth);
    const OrderedJson type = schema.value("type", OrderedJson());
    if (type.is_array()) {
      OrderedJson options = OrderedJson::array();
      for (const OrderedJson& one : type) {
        OrderedJson option = schema;
        option["type"] = one;
        options.push_back(std::move(option));
      }
      return AnyOf(options, at, depth);
    }
    if (type == "string" || type == "integer" || type == "number" || type == "boolean" || type == "null") {
      return type.get<std::string>();
    }
    if (type == "array") {
      if (!schema.contains("items")) return std::string("list");
      ADIT_ASSIGN_OR_RETURN(const std::string item, Value(schema["items"], at + "/items", depth + 1));
      return Rule(fmt::format(R"("[" ({0} ({1} {0})*)? "]")", item, Quoted(is_python_ ? ", " : ",")));
    }
    if (type == "object" || schema.contains("properties")) return Object(schema, at, /*is_root=*/false, depth);
    return std::string("any");
  }

  static Status CheckKeywords(const OrderedJson& schema, const std::string& at) {
    constexpr std::string_view kKnown[] = {"type",    "properties",  "required",  "additionalProperties",
                                           "items",   "enum",        "const",     "anyOf",
                                           "title",   "description", "default",   "examples",
                                           "$schema", "$comment",    "deprecated"};
    for (const auto& [key, value] : schema.items()) {
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
        return Unsupported("schema: '{}' at '{}' cannot be enforced in calls as this model writes them", key, at);
      }
    }
    return Status();
  }

  Result<std::string> AnyOf(const OrderedJson& options, const std::string& at, int depth) {
    if (!options.is_array() || options.empty()) return InvalidArgument("schema: '{}' has no options", at);
    std::string body;
    for (size_t i = 0; i < options.size(); ++i) {
      ADIT_ASSIGN_OR_RETURN(const std::string one, Value(options[i], fmt::format("{}/{}", at, i), depth + 1));
      body += (body.empty() ? "" : " | ") + one;
    }
    return Rule(body);
  }

  Result<std::string> Choice(const OrderedJson& values) {
    if (!values.is_array() || values.empty()) return InvalidArgument("schema: an 'enum' has no values");
    std::string body;
    for (const OrderedJson& value : values) body += (body.empty() ? "" : " | ") + Quoted(Literal(value));
    return Rule(body);
  }

  std::string Literal(const OrderedJson& value) const {
    if (value.is_null()) return is_python_ ? "None" : "null";
    if (value.is_boolean()) return is_python_ ? (value == true ? "True" : "False") : value.dump();
    if (value.is_string()) {
      const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
      return is_python_ ? text : "<escape>" + value.get<std::string>() + "<escape>";
    }
    if (!value.is_structured()) return value.dump();
    std::string text;
    for (const auto& [key, item] : value.items()) {
      if (!text.empty()) text += is_python_ ? ", " : ",";
      if (value.is_object()) text += is_python_ ? OrderedJson(key).dump() + ": " : key + ":";
      text += Literal(item);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
  }

  // Members in their order, each with what stands before its value; those that are not required may be left out.
  Result<std::string> Object(const OrderedJson& schema, const std::string& at, bool is_root, int depth) {
    if (!schema.is_object()) return InvalidArgument("schema: '{}' is no schema", at);
    ADIT_RETURN_IF_ERROR(CheckKeywords(schema, at));
    const OrderedJson properties = schema.value("properties", OrderedJson::object());
    const bool closed = schema.value("additionalProperties", OrderedJson()) == false;
    if (!properties.is_object()) return InvalidArgument("schema: 'properties' at '{}' is no object", at);
    if (properties.empty() && !closed) return std::string(is_root ? "object" : "dict");
    const bool in_braces = !is_root || !is_python_;
    ADIT_ASSIGN_OR_RETURN(const std::string members, Members(schema, properties, at, is_root, depth));
    return Rule(in_braces ? fmt::format(R"("{{" {} "}}")", members) : members);
  }

  Result<std::string> Members(const OrderedJson& schema, const OrderedJson& properties, const std::string& at,
                              bool is_root, int depth) {
    const OrderedJson required = schema.value("required", OrderedJson::array());
    const auto is_required = [&required](const std::string& key) {
      return required.is_array() && std::find(required.begin(), required.end(), OrderedJson(key)) != required.end();
    };
    // From the last on: what comes after a member, when there was one before and when not.
    std::string after = R"("")";
    std::string first = R"("")";
    for (auto member = properties.rbegin(); member != properties.rend(); ++member) {
      const std::string& key = member.key();
      const std::string place = at + "/properties/" + key;
      ADIT_ASSIGN_OR_RETURN(const std::string written, Key(key, is_root, place));
      ADIT_ASSIGN_OR_RETURN(const std::string value, Value(*member, place, depth + 1));
      const std::string with = fmt::format("{} {} {}", Quoted(written), value, after);
      const std::string with_comma = fmt::format("{} {}", Quoted(is_python_ ? ", " : ","), with);
      const bool must = is_required(key);
      const std::string next_first = Rule(must ? with : fmt::format("{} | {}", with, first));
      after = Rule(must ? with_comma : fmt::format("{} | {}", with_comma, after));
      first = next_first;
    }
    return first;
  }

  // What stands before the value.
  Result<std::string> Key(const std::string& key, bool is_root, const std::string& at) const {
    if (is_python_ && !is_root)
      return OrderedJson(key).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + ": ";
    const std::string_view also = is_python_ ? "" : ".-";
    const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [also](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             also.find(c) != std::string_view::npos;
    });
    if (plain) return key + (is_python_ ? "=" : ":");
    return Unsupported("schema: '{}': calls as this model writes them cannot have an argument of this name", at);
  }

  std::string Rule(const std::string& body) {
    rules_.push_back(fmt::format("r{} ::= {}", rules_.size(), body));
    return fmt::format("r{}", rules_.size() - 1);
  }

  const bool is_python_;
  std::vector<std::string> rules_;
};

}  // namespace

Result<std::string> LiteralRules(const std::string& schema, LiteralSyntax syntax) {
  const OrderedJson json = OrderedJson::parse(schema, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument("schema: it is no object");
  return RuleWriter(syntax).Write(json);
}

}  // namespace adit::server
