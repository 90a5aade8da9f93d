// Endpoints that administer what models keep of prompts.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "server/chat_writer.h"
#include "server/generation_reply.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson CacheJson(const std::string& model, const engine::EngineStats& stats, int64_t bytes_per_page) {
  const auto& cache = stats.prefix_cache;
  return {{"model", model},
          {"pages", stats.pages.num_pages},
          {"free", stats.pages.num_free},
          {"cached", stats.pages.num_cached},
          {"held", stats.pages.num_pages - stats.pages.num_free - stats.pages.num_cached},
          {"cached_bytes", stats.pages.num_cached * bytes_per_page},
          {"queries", cache.queries},
          {"query_tokens", cache.query_tokens},
          {"hit_tokens", cache.hit_tokens + cache.partial_tokens},
          {"inserted_pages", cache.inserted_blocks},
          {"evicted_pages", cache.evicted_blocks}};
}

}  // namespace

std::unique_ptr<Reply> ShowCache(Call& call) {
  OrderedJson body = {{"object", "list"}};
  OrderedJson models = OrderedJson::array();
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease == nullptr || !now.lease->generates()) continue;
    const engine::EngineStats stats = now.lease->engine().stats();
    const engine::ModelRunner& runner = now.lease->engine().runner();
    const int64_t kv_bytes = runner.kv_capacity_tokens() * static_cast<int64_t>(runner.kv_bytes_per_token());
    models.push_back(
        CacheJson(now.entry.name, stats, stats.pages.num_pages > 0 ? kv_bytes / stats.pages.num_pages : 0));
    // Of all together.
    for (const auto& [key, value] : models.back().items()) {
      if (value.is_number()) body[key] = body.value(key, int64_t{0}) + value.get<int64_t>();
    }
  }
  body["data"] = std::move(models);
  return JsonReply(JsonText(body));
}

std::unique_ptr<Reply> FlushCache(Call& call) {
  std::string name;
  if (!call.request.body.empty()) {
    const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
    if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
    const nlohmann::json& json = std::get<nlohmann::json>(body);
    if (const auto model = json.find("model"); model != json.end() && model->is_string()) name = *model;
  }
  if (!name.empty() && !call.service.models().Find(name)) {
    return ErrorReply(UnknownModel(call.service.models(), name), *call.record);
  }
  OrderedJson flushed = OrderedJson::array();
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease == nullptr || !now.lease->generates() || (!name.empty() && !now.lease->Answers(name))) continue;
    now.lease->engine().ClearPrefixCache();
    flushed.push_back(now.entry.name);
  }
  return JsonReply(JsonText({{"flushed", true}, {"models", std::move(flushed)}}));
}

// The prompt of a chat or a completion is computed, so that requests that begin with it find it; nothing is generated.
std::unique_ptr<Reply> WarmCache(Call& call) {
  std::variant<nlohmann::json, ApiError> read = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  nlohmann::json& body = std::get<nlohmann::json>(read);
  // Prefixes are kept apart by tenant: whose it is to be may be said.
  if (const auto tenant = body.find("tenant"); tenant != body.end()) {
    if (!tenant->is_string()) {
      return ErrorReply({.code = "invalid_type", .message = "'tenant' is a string", .param = "tenant"}, *call.record);
    }
    call.holder.tenant = tenant->get<std::string>();
    body.erase(tenant);
  }
  for (const char* length : {"max_completion_tokens", "n_predict", "max_new_tokens", "stream", "stream_options"}) {
    body.erase(length);
  }
  body["max_tokens"] = 0;
  const ApiKind kind = body.contains("messages") ? ApiKind::kChat : ApiKind::kCompletion;
  return Generate(call, body, {.kind = kind, .make_writer = &MakeChatWriter});
}

}  // namespace adit::server
