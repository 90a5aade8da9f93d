#include "server/constraint_fields.h"
#include "server/answer_writer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "grammar/compiler.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

class ConstraintReader {
 public:
  ConstraintReader(FieldReader& fields, const OrderedBody& body) : fields_(fields), body_(body) {}

  std::optional<Constraint> Read() {
    if (fields_.Find("response_format") != nullptr) ReadResponseFormat();
    if (fields_.Find("structured_outputs") != nullptr) {
      ReadStructured(body_.Member("structured_outputs"), "structured_outputs.");
    }
    ReadAliases();
    if (found_.size() > 1) {
      fields_.Fail(
          "invalid_value", found_[1].param,
          fmt::format("'{}' and '{}' both say what the answer is held to; one may", found_[0].param, found_[1].param));
    }
    if (found_.empty() || fields_.error()) return std::nullopt;
    return std::move(found_.front());
  }

 private:
  void Add(GrammarKind kind, std::string text, std::string param) {
    found_.push_back({.spec = {.kind = kind, .text = std::move(text)}, .param = std::move(param)});
  }

  void Missing(const std::string& param) {
    fields_.Fail("missing_required_parameter", param, fmt::format("'{}' is missing", param));
  }

  void FailType(const std::string& param, const OrderedJson& got, std::string_view wanted) {
    fields_.FailType(param, nlohmann::json(got), wanted);
  }

  void ReadResponseFormat() {
    const OrderedJson format = body_.Member("response_format");
    const std::string param = "response_format";
    if (!format.is_object()) return FailType(param, format, "an object");
    const auto type_at = format.find("type");
    if (type_at == format.end()) return Missing(param + ".type");
    const std::string type = type_at->is_string() ? type_at->get<std::string>() : std::string();
    if (type == "text") return;
    if (type == "json_object") {
      const OrderedJson schema = MemberOf(format, "schema");
      if (schema.is_null()) return Add(GrammarKind::kJsonObject, "", param);
      return AddSchema(schema, param + ".schema");
    }
    if (type == "json_schema") return ReadNamedSchema(format, param);
    if (type == "structural_tag") {
      if (!format.contains("format")) return Missing(param + ".format");
      return Add(GrammarKind::kStructuralTag, JsonText(format), param);
    }
    if (type == "regex") return AddText(GrammarKind::kRegex, format, {"pattern", "regex"}, param);
    if (type == "grammar") return AddText(GrammarKind::kEbnf, format, {"grammar", "value"}, param);
    if (type == "choice") {
      const OrderedJson choices = MemberOf(format, format.contains("choices") ? "choices" : "choice");
      return AddChoice(choices, param + ".choice");
    }
    fields_.Fail("invalid_value", param + ".type",
                 fmt::format("'{}.type' is {}; it is text, json_object, json_schema, structural_tag, regex, grammar or "
                             "choice",
                             param, JsonText(*type_at)));
  }

  // As OpenAI has it, and without the object between as llama.cpp does.
  void ReadNamedSchema(const OrderedJson& format, const std::string& param) {
    const OrderedJson named = MemberOf(format, "json_schema");
    if (named.is_null()) {
      const OrderedJson schema = MemberOf(format, "schema");
      return schema.is_null() ? Missing(param + ".json_schema") : AddSchema(schema, param + ".schema");
    }
    if (!named.is_object()) return FailType(param + ".json_schema", named, "an object");
    const OrderedJson name = MemberOf(named, "name");
    if (!name.is_null() && !name.is_string()) return FailType(param + ".json_schema.name", name, "a string");
    const OrderedJson strict = MemberOf(named, "strict");
    if (!strict.is_null() && !strict.is_boolean()) return FailType(param + ".json_schema.strict", strict, "a boolean");
    const OrderedJson schema = MemberOf(named, "schema");
    if (schema.is_null()) return Missing(param + ".json_schema.schema");
    AddSchema(schema, param + ".json_schema.schema");
  }

  static OrderedJson MemberOf(const OrderedJson& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? OrderedJson() : *found;
  }

  // An object, true, or either as a text.
  void AddSchema(const OrderedJson& schema, const std::string& param) {
    if (schema.is_string()) return Add(GrammarKind::kJsonSchema, schema.get<std::string>(), param);
    if (!schema.is_object() && !schema.is_boolean()) return FailType(param, schema, "a JSON schema");
    Add(GrammarKind::kJsonSchema, JsonText(schema), param);
  }

  void AddChoice(const OrderedJson& choices, const std::string& param) {
    if (!choices.is_array()) return FailType(param, choices, "a list of strings");
    Add(GrammarKind::kChoice, JsonText(choices), param);
  }

  void AddText(GrammarKind kind, const OrderedJson& format, std::initializer_list<const char*> keys,
               const std::string& param) {
    for (const char* key : keys) {
      const OrderedJson text = MemberOf(format, key);
      if (text.is_null()) continue;
      const std::string at = fmt::format("{}.{}", param, key);
      if (!text.is_string()) return FailType(at, text, "a string");
      return Add(kind, text.get<std::string>(), at);
    }
    Missing(fmt::format("{}.{}", param, *keys.begin()));
  }

  void ReadStructured(const OrderedJson& wish, const std::string& prefix) {
    if (!wish.is_object()) return FailType("structured_outputs", wish, "an object");
    bool any_whitespace = true;
    const size_t before = found_.size();
    for (const auto& [key, value] : wish.items()) {
      const std::string param = prefix + key;
      if (value.is_null()) continue;
      if (key == "json") {
        AddSchema(value, param);
      } else if (key == "json_object") {
        if (!value.is_boolean()) return FailType(param, value, "a boolean");
        if (value == true) Add(GrammarKind::kJsonObject, "", param);
      } else if (key == "choice") {
        AddChoice(value, param);
      } else if (key == "regex" || key == "grammar") {
        if (!value.is_string()) return FailType(param, value, "a string");
        Add(key == "regex" ? GrammarKind::kRegex : GrammarKind::kEbnf, value.get<std::string>(), param);
      } else if (key == "structural_tag") {
        if (!value.is_object() && !value.is_string()) return FailType(param, value, "an object");
        Add(GrammarKind::kStructuralTag, value.is_string() ? value.get<std::string>() : JsonText(value), param);
      } else if (key == "disable_any_whitespace") {
        if (!value.is_boolean()) return FailType(param, value, "a boolean");
        any_whitespace = value == false;
      } else if (key == "whitespace_pattern" || (key == "disable_additional_properties" && value != false)) {
        return fields_.Fail("unsupported_parameter", param, fmt::format("'{}' is not supported yet", param));
      } else if (key != "disable_additional_properties" && !key.starts_with('_')) {
        return fields_.Fail("unknown_parameter", param, fmt::format("'{}' is not known", param));
      }
    }
    for (size_t i = before; i < found_.size(); ++i) found_[i].spec.any_whitespace = any_whitespace;
  }

  // vLLM's older names, and llama.cpp's.
  void ReadAliases() {
    constexpr std::pair<const char*, const char*> kAliases[] = {{"guided_json", "json"},
                                                                {"guided_regex", "regex"},
                                                                {"guided_choice", "choice"},
                                                                {"guided_grammar", "grammar"},
                                                                {"grammar", "grammar"},
                                                                {"json_schema", "json"},
                                                                {"guided_whitespace_pattern", "whitespace_pattern"}};
    for (const auto& [alias, key] : kAliases) {
      if (fields_.Find(alias) == nullptr || fields_.error()) continue;
      const OrderedJson value = body_.Member(alias);
      // llama.cpp's clients send empty ones.
      if (value == "" || (value.is_object() && value.empty() && std::string_view(alias) == "json_schema")) continue;
      const size_t before = found_.size();
      ReadStructured(OrderedJson{{key, value}}, "");
      for (size_t i = before; i < found_.size(); ++i) found_[i].param = alias;
    }
  }

  FieldReader& fields_;
  const OrderedBody& body_;
  std::vector<Constraint> found_;
};

bool IsSchema(GrammarKind kind) { return kind == GrammarKind::kJsonSchema || kind == GrammarKind::kJsonObject; }

}  // namespace

OrderedJson OrderedBody::Member(const char* key) const {
  if (!text_.empty()) {
    const OrderedJson whole = OrderedJson::parse(text_, nullptr, /*allow_exceptions=*/false);
    if (whole.is_object() && whole.contains(key)) return whole[key];
  }
  const auto found = body_.find(key);
  return found == body_.end() ? OrderedJson() : OrderedJson(*found);
}

std::optional<Constraint> ReadConstraint(FieldReader& fields, const OrderedBody& body) {
  std::optional<Constraint> constraint = ConstraintReader(fields, body).Read();
  if (constraint && !grammar::Compiler::available()) {
    fields.Fail("not_supported", constraint->param,
                fmt::format("'{}' is not supported by this build, which lacks XGrammar", constraint->param));
  }
  return constraint;
}

ApiError ErrorOfConstraint(const Constraint& constraint, const Status& status) {
  ApiError error = ErrorOfEngine(status);
  if (status.code() == StatusCode::kResourceExhausted || status.code() == StatusCode::kCancelled ||
      status.code() == StatusCode::kInternal) {
    return error;
  }
  error.status = 400;
  error.type = "invalid_request_error";
  error.retry_after_s = -1;
  error.param = constraint.param;
  const bool is_schema = IsSchema(constraint.spec.kind);
  if (status.code() == StatusCode::kUnsupported) {
    error.code =
        is_schema || status.message().starts_with("schema:") ? "unsupported_schema_feature" : "invalid_grammar";
  } else {
    error.code = is_schema ? "invalid_json_schema" : "invalid_grammar";
  }
  return error;
}

}  // namespace adit::server
