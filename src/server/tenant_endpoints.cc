// /admin/tenants: who there is, and what they may use.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/json_fields.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kMost = int64_t{1} << 40;

OrderedJson CountOrNull(int64_t count) { return count > 0 ? OrderedJson(count) : OrderedJson(); }

// The tenants of all keys, and the one that everybody else belongs to.
std::vector<KeyHolder> TenantsOf(const Service& service) {
  std::vector<KeyHolder> tenants = service.keys().Tenants();
  const auto is_default = [](const KeyHolder& holder) { return holder.tenant == "default"; };
  if (std::none_of(tenants.begin(), tenants.end(), is_default)) tenants.insert(tenants.begin(), KeyHolder());
  return tenants;
}

OrderedJson TenantJson(Service& service, const KeyHolder& holder) {
  const QuotaLimits limits = service.tenants().Find(holder.tenant).value_or(holder.quota);
  int64_t num_requests = 0;
  for (const auto& record : service.live().List()) num_requests += record->tenant == holder.tenant ? 1 : 0;
  return {{"id", holder.tenant},
          {"weight", holder.weight},
          {"rpm", CountOrNull(limits.requests_per_minute)},
          {"tpm", CountOrNull(limits.tokens_per_minute)},
          {"max_concurrent", CountOrNull(limits.max_concurrent)},
          {"max_kv_bytes", CountOrNull(limits.max_kv_bytes)},
          {"requests", num_requests}};
}

std::optional<KeyHolder> FindTenant(const Service& service, const std::string& name) {
  for (const KeyHolder& holder : TenantsOf(service)) {
    if (holder.tenant == name) return holder;
  }
  return std::nullopt;
}

std::unique_ptr<Reply> NoSuchTenant(Call& call) {
  return ErrorReply(
      {.status = 404, .code = "not_found", .message = fmt::format("no key is of the tenant '{}'", call.argument)},
      *call.record);
}

// A limit that a body sets: null and 0 mean none; as it was where the body does not tell.
int64_t ReadLimit(FieldReader& fields, const nlohmann::json& body, const char* key, int64_t before) {
  const std::optional<int64_t> limit = fields.Whole(key, 0, kMost);
  return limit ? *limit : body.contains(key) && body[key].is_null() ? 0 : before;
}

}  // namespace

std::unique_ptr<Reply> ListTenants(Call& call) {
  OrderedJson data = OrderedJson::array();
  for (const KeyHolder& holder : TenantsOf(call.service)) data.push_back(TenantJson(call.service, holder));
  return JsonAnswer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> ShowTenant(Call& call) {
  const std::optional<KeyHolder> holder = FindTenant(call.service, call.argument);
  return holder ? JsonAnswer(TenantJson(call.service, *holder)) : NoSuchTenant(call);
}

std::unique_ptr<Reply> ChangeTenant(Call& call) {
  const std::optional<KeyHolder> holder = FindTenant(call.service, call.argument);
  if (!holder) return NoSuchTenant(call);
  const std::variant<nlohmann::json, ApiError> read = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  const nlohmann::json& body = std::get<nlohmann::json>(read);
  FieldReader fields(body);
  QuotaLimits limits = call.service.tenants().Find(holder->tenant).value_or(holder->quota);
  limits.requests_per_minute = ReadLimit(fields, body, "rpm", limits.requests_per_minute);
  limits.tokens_per_minute = ReadLimit(fields, body, "tpm", limits.tokens_per_minute);
  limits.max_concurrent = ReadLimit(fields, body, "max_concurrent", limits.max_concurrent);
  limits.max_kv_bytes = ReadLimit(fields, body, "max_kv_bytes", limits.max_kv_bytes);
  const std::optional<double> weight = fields.Real("weight", {.low = 0, .high = 1e6, .open_low = true});
  if (weight && *weight != holder->weight) {
    fields.Fail("unsupported_parameter", "weight",
                "'weight' cannot change while the server runs; the key file sets it for the next start");
  }
  for (const std::string& name : fields.Unknown()) {
    fields.Fail("unknown_parameter", name, fmt::format("'{}' is not known", name));
  }
  if (fields.error()) return ErrorReply(*fields.error(), *call.record);
  call.service.tenants().Set(holder->tenant, limits);
  return JsonAnswer(TenantJson(call.service, *holder));
}

}  // namespace adit::server
