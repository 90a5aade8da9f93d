#include "server/batch_line.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::string JsonLine(const OrderedJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string ResultId(const std::string& id) { return "batch_req_" + id; }

// Reads method and url, and checks that there is a body; what is wrong is left in `fields`.
void ReadEnvelope(FieldReader& fields, BatchRequestLine& line) {
  constexpr size_t kMaxBytes = 1024;
  for (const char* key : {"method", "url", "body"}) {
    if (fields.Find(key) == nullptr)
      fields.Fail("missing_required_parameter", key, fmt::format("'{}' is missing", key));
  }
  const std::string method = fields.Text("method", 0, kMaxBytes).value_or("");
  const std::string url = fields.Text("url", 0, kMaxBytes).value_or("");
  if (method != "POST") fields.Fail("invalid_value", "method", "'method' is not POST");
  if (url == "/v1/completions") {
    line.kind = ApiKind::kCompletion;
  } else if (url != "/v1/chat/completions") {
    fields.Fail("invalid_value", "url", "'url' is neither /v1/chat/completions nor /v1/completions");
  }
  const Json* body = fields.Find("body");
  if (body == nullptr) return;
  if (!body->is_object()) fields.FailType("body", *body, "an object");
}

std::optional<std::string> CustomId(const Json& json) {
  const auto id = json.find("custom_id");
  if (id == json.end() || !id->is_string()) return std::nullopt;
  return id->get<std::string>();
}

}  // namespace

BatchRequestLine::BatchRequestLine() = default;
BatchRequestLine::BatchRequestLine(BatchRequestLine&&) noexcept = default;
BatchRequestLine::~BatchRequestLine() = default;

std::variant<BatchRequestLine, BatchLineError> ParseBatchLine(std::string_view text) {
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return BatchLineError{.error = {.code = "invalid_json", .message = json.status().message()}};
  if (!json->is_object()) {
    return BatchLineError{.error = {.code = "invalid_type", .message = "the line is no JSON object"}};
  }
  BatchRequestLine line;
  FieldReader fields(*json);
  const std::optional<std::string> custom_id = CustomId(*json);
  if (!custom_id) {
    fields.Fail(fields.Find("custom_id") == nullptr ? "missing_required_parameter" : "invalid_type", "custom_id",
                "'custom_id' is missing or no string");
  }
  ReadEnvelope(fields, line);
  if (fields.error()) return BatchLineError{.custom_id = custom_id, .error = *fields.error()};
  line.custom_id = *custom_id;
  line.body = std::make_unique<Json>(std::move((*json)["body"]));
  line.body_text = OrderedJson::parse(text)["body"].dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  return line;
}

std::optional<std::string> CustomIdOf(std::string_view line) {
  const Result<Json> json = ParseJson(line);
  return json.ok() && json->is_object() ? CustomId(*json) : std::nullopt;
}

Result<std::variant<std::string, int64_t>> AnsweredBy(std::string_view line) {
  using Answered = std::variant<std::string, int64_t>;
  if (line.starts_with(kBatchResultStart)) {
    const Result<Json> json = ParseJson(line);
    if (json.ok() && json->is_object()) {
      if (std::optional<std::string> id = CustomId(*json)) return Answered(*std::move(id));
      const auto error = json->find("error");
      if (error != json->end() && error->is_object()) {
        const auto number = error->find("line");
        if (number != error->end() && number->is_number_integer()) return Answered(number->get<int64_t>());
      }
    }
  }
  return Corrupt("no line of batch results");
}

std::string BatchResultLine(const std::string& id, const std::string& custom_id, int status, const OrderedJson& body) {
  return JsonLine({{"id", ResultId(id)},
                   {"custom_id", custom_id},
                   {"response", {{"status_code", status}, {"request_id", "req_" + id}, {"body", body}}},
                   {"error", nullptr}});
}

std::string BatchErrorLine(const std::string& id, const BatchLineError& error, int64_t line_number) {
  OrderedJson told = ErrorBody(error.error)["error"];
  told.erase("type");
  told["line"] = line_number;
  return JsonLine({{"id", ResultId(id)},
                   {"custom_id", error.custom_id ? OrderedJson(*error.custom_id) : OrderedJson()},
                   {"response", nullptr},
                   {"error", std::move(told)}});
}

}  // namespace adit::server
