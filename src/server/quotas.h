#ifndef ADIT_SERVER_QUOTAS_H_
#define ADIT_SERVER_QUOTAS_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/api_error.h"
#include "server/http_message.h"

namespace adit::server {

// What a key may use; 0: as much as there is.
struct QuotaLimits {
  int64_t requests_per_minute = 0;
  int64_t tokens_per_minute = 0;  // of prompts and answers
  int64_t max_concurrent = 0;     // requests under way
  int64_t max_kv_bytes = 0;       // of each model's cache, that requests of the tenant hold while they run
  // Whether requests are counted.
  bool any() const { return requests_per_minute > 0 || tokens_per_minute > 0 || max_concurrent > 0; }
};

// What keys have used. Each quota is a bucket that holds a minute's worth and fills evenly; tokens are taken as they
// come, also more than there are, and who owes some has to wait. Any thread.
class Quotas {
 public:
  // Takes a request in, or tells why not and when it is worth to ask again (429). `now_s`: of the steady clock.
  std::optional<ApiError> Enter(const std::string& key, const QuotaLimits& limits, double now_s);
  void Charge(const std::string& key, int64_t tokens, double now_s);
  // A request that was taken in has ended.
  void Leave(const std::string& key);
  // x-ratelimit-limit-requests and so on.
  void AddHeaders(const std::string& key, double now_s, HttpHead& head);

 private:
  // Fills with the time.
  struct Bucket {
    double level = 0.0;
    double filled_s = 0.0;
    void Fill(int64_t per_minute, double now_s);
    // Until it holds so much.
    double SecondsUntil(double wanted, int64_t per_minute) const;
  };
  struct Account {
    QuotaLimits limits;
    Bucket requests;
    Bucket tokens;
    int64_t running = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Account> accounts_;  // guarded by mutex_; by key
};

}  // namespace adit::server

#endif  // ADIT_SERVER_QUOTAS_H_
