// adit ps and stop: ask a server that runs.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/units.h"
#include "hub/http_client.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kUsualUrl = "http://127.0.0.1:8000";
constexpr size_t kMaxAnswerBytes = size_t{16} << 20;

// What the server at `url` answers; its error when it is none of success.
Result<OrderedJson> AskServer(const std::optional<std::string>& url, const char* method, const char* path,
                              const std::string& body) {
  const std::string server = url.value_or(env::ServerUrl().value_or(kUsualUrl));
  ADIT_ASSIGN_OR_RETURN(hub::Url target, hub::ParseUrl(server));
  while (target.target.ends_with('/')) target.target.pop_back();
  target.target += path;
  const Result<hub::HttpAnswer> answer =
      hub::ExchangeText({.method = method, .url = target, .token = env::ServerKey().value_or(""), .body = body},
                        {.silence_timeout_s = 600.0, .use_proxies = false}, kMaxAnswerBytes);
  if (!answer.ok()) return answer.status();
  OrderedJson json = OrderedJson::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  if (answer->status == 200 && json.is_object()) return json;
  const OrderedJson* error = json.is_object() && json.contains("error") ? &json["error"] : nullptr;
  const std::string why = error != nullptr && error->is_object() && error->contains("message")
                              ? (*error)["message"].get<std::string>()
                              : "it does not answer as adit does";
  const bool is_unknown = answer->status == 404 && error != nullptr;
  return Status(is_unknown ? StatusCode::kNotFound : StatusCode::kFailedPrecondition,
                fmt::format("{}: status {}: {}", server, answer->status, why));
}

std::string WordOf(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t NumberOf(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<int64_t>() : 0;
}

}  // namespace

Result<int> Run(const PsOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const OrderedJson models, AskServer(options.url, "GET", "/v1/models", ""));
  if (options.json) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(models.dump(1) + "\n"));
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "STATUS", "SIZE", "CONTEXT", "REQUESTS"}};
  const OrderedJson none = OrderedJson::array();
  for (const OrderedJson& model : models.contains("data") && models["data"].is_array() ? models["data"] : none) {
    if (!model.is_object() || WordOf(model, "root") != WordOf(model, "id")) continue;
    const int64_t context = NumberOf(model, "max_model_len");
    const int64_t bytes = NumberOf(model, "size_bytes");
    rows.push_back({WordOf(model, "id"), WordOf(model, "status"), bytes > 0 ? FormatBytes(bytes) : "",
                    context > 0 ? fmt::format("{}", context) : "", fmt::format("{}", NumberOf(model, "requests"))});
  }
  ADIT_RETURN_IF_ERROR(Stdout().WriteText(Columns(rows)));
  return kExitOk;
}

Result<int> Run(const StopOptions& options) {
  const std::string body = OrderedJson{{"model", options.model}}.dump();
  ADIT_ASSIGN_OR_RETURN(const OrderedJson answer, AskServer(options.url, "POST", "/admin/models/unload", body));
  ADIT_RETURN_IF_ERROR(Stdout().WriteText(
      options.json ? answer.dump() + "\n" : fmt::format("{}: {}\n", options.model, WordOf(answer, "status"))));
  return kExitOk;
}

}  // namespace adit::cli
