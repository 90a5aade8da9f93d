#ifndef ADIT_SERVER_MODEL_POOL_H_
#define ADIT_SERVER_MODEL_POOL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "server/api_error.h"
#include "server/served_model.h"

namespace adit::server {

// Keeps a model in memory for as long as it lives. Outlived by the pool that it is of.
using ModelLease = std::shared_ptr<const ServedModel>;

enum class ModelState : uint8_t { kUnloaded, kLoading, kLoaded, kFailed };
std::string_view ModelStateName(ModelState state);

// A model that can be asked for.
struct ModelEntry {
  std::string name;                  // for clients
  std::vector<std::string> aliases;  // that it answers to as well
  std::string source;                // what a ModelSource makes it of: a path
  bool pinned = false;               // is never unloaded to make room
  bool at_start = false;             // is loaded before anyone asks for it
};

// What a model needs of memory.
struct ModelNeed {
  int64_t weight_bytes = 0;
  int64_t cache_bytes = 0;  // where its size is given; 0: whatever there is
};

// How far a model is that is being fetched.
struct FetchProgress {
  int64_t done_bytes = 0;
  int64_t total_bytes = 0;
};

// Where a pool's models come from. Called on the pool's threads: Load and Fetch by one each.
class ModelSource {
 public:
  virtual ~ModelSource() = default;

  virtual Result<ModelNeed> NeedOf(const ModelEntry& entry) = 0;
  // Loads a model whose weights and cache take at most budget_bytes; 0: all that the process may have, and it is the
  // only one. An error of `on_progress`, called now and then, ends the loading with it.
  virtual Result<std::unique_ptr<ServedModel>> Load(const ModelEntry& entry, int64_t budget_bytes,
                                                    const std::function<Status(double share)>& on_progress) = 0;
  // What may be loaded beside the entries that there are from the start: the source of a model by name. NotFound.
  virtual Result<std::string> Find(const std::string& name) = 0;
  // Gets a model to where Find finds it. Cancelled once `cancel` is set.
  virtual Status Fetch(const std::string& name, const std::function<void(const FetchProgress&)>& on_progress,
                       const std::atomic<bool>& cancel) = 0;
};

struct ModelPoolOptions {
  int64_t budget_bytes = 0;      // of all models together; 0: no limit
  bool is_single = true;         // the one model there is may use all that the process may
  double retry_failed_s = 10.0;  // until a model whose loading has failed is tried again
};

// What a pool has been asked to do, which may take a while. Any thread.
class PoolTicket {
 public:
  struct Outcome {
    ModelLease lease;  // where a model was asked for
    Status status;
    std::optional<ApiError> error;  // the same for clients
  };
  virtual ~PoolTicket() = default;
  // Nothing until it is done.
  virtual std::optional<Outcome> outcome() const = 0;
};
using TicketPtr = std::shared_ptr<PoolTicket>;

// A model as it is now.
struct ModelNow {
  ModelEntry entry;
  ModelState state = ModelState::kUnloaded;
  double progress = 0.0;     // of loading
  std::string failure;       // why it could not be loaded
  ModelLease lease;          // where it is loaded
  int64_t memory_bytes = 0;  // that it may use
  int64_t num_leases = 0;    // held by others
};

// Something that has happened to a model.
struct PoolEvent {
  int64_t number = 0;  // from 1 on, without gaps
  std::string model;
  std::string what;  // a ModelState's name, "fetching", "fetched", "fetch_failed", "pinned", "unpinned" or "removed"
  double progress = 0.0;  // of loading and fetching
  FetchProgress bytes;    // of fetching
  std::string error;
};

// The models of a process within one budget of memory: loads those that are asked for, one after the other, and unloads
// the one that has not been used for the longest time to make room, once its last lease is gone. A model that is
// unloaded while it is used takes no more requests, and those that come meanwhile wait for it to be loaded again: none
// fails. Any thread.
class ModelPool {
 public:
  // The first entry is the default. Names are unique.
  ModelPool(std::vector<ModelEntry> entries, const ModelPoolOptions& options, std::unique_ptr<ModelSource> source);
  // No lease is left. What waits is told that it will not come.
  ~ModelPool();

  // Loads the entries that are to be there from the start; requests for them are told meanwhile how far that is. Waits
  // for it; the first error.
  Status LoadAtStart();
  // A model that is loaded already, as an entry of its own. Before anything else is asked.
  void Adopt(std::unique_ptr<ServedModel> model);

  // The model of that name, the default where it is empty, as soon as it is loaded. `wake` is called when a ticket that
  // has no outcome at first has one.
  TicketPtr Ask(const std::string& name, std::function<void()> wake);

  // For who administers. Each ticket's outcome comes when the work is done.
  // Loads a model, also one that is no entry yet.
  TicketPtr Load(const std::string& name, std::function<void()> wake);
  TicketPtr Unload(const std::string& name, std::function<void()> wake);
  // Lets a model's name stand for another source, which is loaded first, beside the old one where memory has room.
  TicketPtr Swap(const std::string& name, const std::string& source_name, std::function<void()> wake);
  // Unloads a model and forgets its entry.
  TicketPtr Remove(const std::string& name, std::function<void()> wake);
  // Gets a model; ResourceExhausted when too many are under way.
  TicketPtr Fetch(const std::string& name, std::function<void()> wake);
  Status Pin(const std::string& name, bool pinned);
  // Makes a model that the source finds one that can be asked for.
  Status Offer(const std::string& name);

  // What loading it would take, as far as it is known.
  struct Plan {
    int64_t budget_bytes = 0;
    int64_t weight_bytes = 0;
    int64_t needed_bytes = 0;  // with the least cache
    int64_t used_bytes = 0;    // by the models that are loaded
    bool fits = false;
    std::vector<std::string> unloads;  // what would make room
  };
  Result<Plan> PlanLoad(const std::string& name);

  std::vector<ModelNow> List() const;
  // Nothing for a name that is none.
  std::optional<ModelNow> Find(const std::string& name) const;
  // Whether there is one entry alone, so that it does not matter what is asked for.
  bool is_single() const;
  // Names that can be asked for, for messages: "'a', 'b'".
  std::string KnownNames() const;
  // Whether models are still loaded at the start, and how far the present one is.
  std::optional<double> start_progress() const;

  // Events behind `number`, of the last ones that are kept, and the number of the newest.
  std::vector<PoolEvent> EventsAfter(int64_t number) const;
  int64_t last_event() const;
  // `wake` is called at every event from now on, until the result dies.
  std::shared_ptr<void> Subscribe(std::function<void()> wake);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// What is wrong, for a client that has asked for a model that is not there.
ApiError UnknownModel(const ModelPool& pool, std::string_view name);
// A failure of the pool's, as clients are told of it.
ApiError ErrorOfPool(const Status& status);

}  // namespace adit::server

#endif  // ADIT_SERVER_MODEL_POOL_H_
