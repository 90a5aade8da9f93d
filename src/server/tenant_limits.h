#ifndef ADIT_SERVER_TENANT_LIMITS_H_
#define ADIT_SERVER_TENANT_LIMITS_H_

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/quotas.h"

namespace adit::server {

// Limits that whoever administers has given to tenants while the server runs: each key of the tenant has them in place
// of its own. They go with the process. Any thread.
class TenantLimits {
 public:
  std::optional<QuotaLimits> Find(const std::string& tenant) const {
    const std::lock_guard lock(mutex_);
    const auto found = limits_.find(tenant);
    return found == limits_.end() ? std::nullopt : std::optional<QuotaLimits>(found->second);
  }
  void Set(const std::string& tenant, const QuotaLimits& limits) {
    const std::lock_guard lock(mutex_);
    limits_[tenant] = limits;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, QuotaLimits> limits_;  // guarded by mutex_
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TENANT_LIMITS_H_
