// llama.cpp's /infill: fills a gap between two texts.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/fim_format.h"
#include "server/generation_reply.h"
#include "server/guarded_body.h"
#include "server/infill_writer.h"
#include "server/json_fields.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxExtra = 64;

void ReadExtra(FieldReader& fields, const FimFormat& format, FimGap& gap) {
  const Json* extra = fields.Find("input_extra");
  if (extra == nullptr || extra->empty()) return;
  if (!extra->is_array()) return fields.FailType("input_extra", *extra, "a list of objects");
  if (format.file.empty()) {
    return fields.Fail("unsupported_parameter", "input_extra",
                       "'input_extra' is not supported by this model: its vocabulary has no token for files");
  }
  if (extra->size() > kMaxExtra) {
    return fields.Fail("invalid_value", "input_extra",
                       fmt::format("'input_extra' has {} entries; it has at most {}", extra->size(), kMaxExtra));
  }
  for (size_t i = 0; i < extra->size(); ++i) {
    const std::string param = fmt::format("input_extra[{}]", i);
    if (!(*extra)[i].is_object()) return fields.FailType(param, (*extra)[i], "an object");
    FieldReader reader((*extra)[i]);
    const std::optional<std::string> name = reader.Text("filename", 0, SIZE_MAX);
    const std::optional<std::string> text = reader.Text("text", 0, SIZE_MAX);
    if (!text && !reader.error()) reader.Fail("missing_required_parameter", "text", "'text' is missing");
    if (reader.error()) {
      return fields.Fail(reader.error()->code, param + "." + reader.error()->param, reader.error()->message);
    }
    gap.extra.emplace_back(name.value_or(fmt::format("file{}", i)), *text);
  }
}

// The body of a completion that fills the gap.
std::variant<Json, ApiError> CompletionOf(const Json& body, const ApiModel& model) {
  FieldReader fields(body);
  if (!model.fim) {
    return ApiError{.code = "unsupported_parameter",
                    .message = fmt::format("the vocabulary of '{}' has no tokens to fill gaps by", model.name),
                    .param = "model"};
  }
  FimGap gap;
  const std::optional<std::string> before = fields.Text("input_prefix", 0, SIZE_MAX);
  const std::optional<std::string> behind = fields.Text("input_suffix", 0, SIZE_MAX);
  if (!before) fields.Fail("missing_required_parameter", "input_prefix", "'input_prefix' is missing");
  if (!behind) fields.Fail("missing_required_parameter", "input_suffix", "'input_suffix' is missing");
  gap.before = before.value_or("");
  gap.behind = behind.value_or("");
  gap.begun = fields.Text("prompt", 0, SIZE_MAX).value_or("");
  ReadExtra(fields, *model.fim, gap);
  for (const char* key : {"n", "best_of"}) (void)fields.Whole(key, 1, 1);
  for (const char* key : {"suffix", "echo", "logprobs", "use_beam_search"}) {
    const Json* value = fields.Find(key);
    if (value != nullptr && *value != false) {
      fields.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported in infill", key));
    }
  }
  if (fields.error()) return *fields.error();
  Json completion = body;
  for (const char* key : {"input_prefix", "input_suffix", "input_extra", "suffix", "echo", "logprobs"}) {
    completion.erase(key);
  }
  completion["prompt"] = EncodeGap(model.tokenizer, *model.fim, gap);
  Json& stops = completion["stop_token_ids"];
  if (stops.is_null()) stops = Json::array();
  if (stops.is_array()) {
    for (const int32_t id : model.fim->stop_ids) stops.push_back(id);
  }
  const bool has_length = completion.contains("n_predict") || completion.contains("max_tokens");
  if (!has_length) completion["n_predict"] = -1;
  return completion;
}

}  // namespace

std::unique_ptr<Reply> Infill(Call& call) {
  const std::variant<Json, ApiError> body = ReadGuardedBody(call);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  const std::variant<Json, ApiError> read = CompletionOf(std::get<Json>(body), call.model->api());
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  return Generate(call, std::get<Json>(read), {.kind = ApiKind::kCompletion, .make_writer = &MakeInfillWriter});
}

}  // namespace adit::server
