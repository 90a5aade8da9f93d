// ParseTenants.
#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "sched/flag_text.h"
#include "sched/workload.h"

namespace adit::sched {
namespace {

constexpr double kMaxTenants = 1000;
constexpr double kMaxShare = 1e6;
constexpr size_t kMaxNameBytes = 64;

Status WrongTenants(std::string_view text, std::string_view why) {
  return InvalidArgument("tenants '{}': {}", text.substr(0, 60), why);
}

Result<WorkloadTenant> ParseTenant(std::string_view text, std::string_view part) {
  const std::vector<std::string_view> fields = SplitText(part, ':');
  if (fields.size() > 3 || fields.front().empty() || fields.front().size() > kMaxNameBytes) {
    return WrongTenants(text, "there are N, and NAME:SHARE or NAME:SHARE:WEIGHT between commas");
  }
  WorkloadTenant tenant{.name = std::string(fields.front())};
  for (size_t i = 1; i < fields.size(); ++i) {
    const std::optional<double> value = ReadNumber(fields[i]);
    if (!value || *value <= 0.0 || *value > kMaxShare) {
      return WrongTenants(
          text, fmt::format("'{}' is not a number above 0, at most {:g}", fields[i].substr(0, 60), kMaxShare));
    }
    (i == 1 ? tenant.share : tenant.weight) = *value;
  }
  return tenant;
}

}  // namespace

Result<std::vector<WorkloadTenant>> ParseTenants(std::string_view text) {
  std::vector<WorkloadTenant> tenants;
  if (const std::optional<double> count = ReadNumber(text)) {
    if (*count != std::floor(*count) || *count < 1 || *count > kMaxTenants) {
      return WrongTenants(text, fmt::format("the number of tenants is in 1..{:g}", kMaxTenants));
    }
    for (int i = 0; i < static_cast<int>(*count); ++i) tenants.push_back({.name = fmt::format("t{}", i)});
    return tenants;
  }
  for (const std::string_view part : SplitText(text, ',')) {
    ADIT_ASSIGN_OR_RETURN(WorkloadTenant tenant, ParseTenant(text, part));
    for (const WorkloadTenant& other : tenants) {
      if (other.name == tenant.name) return WrongTenants(text, fmt::format("'{}' is there twice", tenant.name));
    }
    tenants.push_back(std::move(tenant));
    if (static_cast<double>(tenants.size()) > kMaxTenants) {
      return WrongTenants(text, fmt::format("there are more than {:g}", kMaxTenants));
    }
  }
  return tenants;
}

}  // namespace adit::sched
