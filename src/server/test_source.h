#ifndef ADIT_SERVER_TEST_SOURCE_H_
#define ADIT_SERVER_TEST_SOURCE_H_

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "server/model_pool.h"
#include "server/served_model.h"

namespace adit::server {

// A model of random weights, served as tests want it.
std::unique_ptr<ServedModel> ServeTiny(const std::string& name, std::vector<std::string> aliases = {});

// Makes such models of any source but "missing", "broken" and "endless". Loading can be held up.
class TestSource : public ModelSource {
 public:
  Result<ModelNeed> NeedOf(const ModelEntry& entry) override {
    if (entry.source == "missing") return NotFound("'{}' is not there", entry.name);
    return ModelNeed{.weight_bytes = weight_bytes};
  }
  Result<std::unique_ptr<ServedModel>> Load(const ModelEntry& entry, int64_t budget_bytes,
                                            const std::function<Status(double)>& on_progress) override {
    {
      std::unique_lock lock(mutex_);
      ++num_loads_[entry.source];
      last_budget_ = budget_bytes;
      ADIT_RETURN_IF_ERROR(on_progress(0.25));
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
    }
    while (entry.source == "endless") ADIT_RETURN_IF_ERROR(on_progress(0.5));
    if (entry.source == "broken") return Corrupt("'{}' is broken", entry.name);
    return ServeTiny(entry.name, entry.aliases);
  }
  Result<std::string> Find(const std::string& name) override {
    if (!name.starts_with("store/")) return NotFound("there is no model '{}' in the store", name);
    return name;
  }
  Status Fetch(const std::string& name, const std::function<void(const FetchProgress&)>& on_progress,
               const std::atomic<bool>& cancel) override {
    on_progress({.done_bytes = 5, .total_bytes = 10});
    if (name == "bad") return Io("the hub is away");
    while (name == "endless" && !cancel) std::this_thread::yield();
    return cancel ? Cancelled("stopped") : Status();
  }

  void Hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  int num_loads(const std::string& source) {
    const std::lock_guard lock(mutex_);
    return num_loads_[source];
  }
  void WaitForLoad(const std::string& source) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_loads_[source] > 0; });
  }
  int64_t last_budget() {
    const std::lock_guard lock(mutex_);
    return last_budget_;
  }

  int64_t weight_bytes = int64_t{10} << 20;  // before the pool begins

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, int> num_loads_;
  int64_t last_budget_ = -1;
  bool held_ = false;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TEST_SOURCE_H_
