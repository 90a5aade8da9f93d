#ifndef ADIT_SERVER_ENGINE_WATCH_H_
#define ADIT_SERVER_ENGINE_WATCH_H_

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "server/model_pool.h"

namespace adit::server {

// Sees engines that have requests and do not step. Any thread.
class EngineWatch {
 public:
  // For how many seconds the one that is worst off has not stepped, as far as calls of this have seen; 0 when all do.
  double StuckSeconds(const std::vector<ModelNow>& models, double now_s);

 private:
  struct Watched {
    int64_t steps = -1;
    double since_s = 0.0;
  };
  std::mutex mutex_;
  std::unordered_map<const ServedModel*, Watched> watched_;  // guarded by mutex_
};

}  // namespace adit::server

#endif  // ADIT_SERVER_ENGINE_WATCH_H_
