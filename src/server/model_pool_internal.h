#ifndef ADIT_SERVER_MODEL_POOL_INTERNAL_H_
#define ADIT_SERVER_MODEL_POOL_INTERNAL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/model_pool.h"

namespace adit::server {

class Ticket : public PoolTicket {
 public:
  explicit Ticket(std::function<void()> wake) : wake_(std::move(wake)) {}
  std::optional<Outcome> outcome() const override {
    const std::lock_guard lock(mutex_);
    return outcome_;
  }
  // Once. No lock of the pool's is held: who is woken may ask the pool.
  void Settle(Outcome outcome);

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::optional<Outcome> outcome_;  // guarded by mutex_
};

// A model in memory. All but `model` is guarded by the pool's mutex; `model` is let go by the thread that loads, when
// no lease is left.
struct Residence {
  std::unique_ptr<ServedModel> model;
  int64_t memory_bytes = 0;
  int64_t num_leases = 0;
  bool retired = false;  // no slot has it any more, and it goes with its last lease
};

// An entry with what is known of it. Guarded by the pool's mutex.
struct ModelSlot {
  ModelEntry entry;
  ModelState state = ModelState::kUnloaded;
  double progress = 0.0;
  std::string failure;
  double failed_s = 0.0;               // when
  double used_s = 0.0;                 // last, of the steady clock
  bool at_start = false;               // it is being loaded since the start
  std::shared_ptr<Residence> current;  // null: it is not loaded
  std::vector<std::shared_ptr<Ticket>> waiting;

  bool Answers(std::string_view name) const;
};

// The threads and books of a pool, in three files: who asks (model_pool.cc), what is told (model_pool_now.cc) and what
// is done (model_pool_work.cc).
class ModelPool::Impl {
 public:
  Impl(std::vector<ModelEntry> entries, const ModelPoolOptions& options, std::unique_ptr<ModelSource> source);
  ~Impl();

  Status LoadAtStart();
  void Adopt(std::unique_ptr<ServedModel> model);
  TicketPtr Ask(const std::string& name, std::function<void()> wake);
  TicketPtr Load(const std::string& name, std::function<void()> wake);
  TicketPtr Unload(const std::string& name, std::function<void()> wake);
  TicketPtr Swap(const std::string& name, const std::string& source_name, std::function<void()> wake);
  TicketPtr Remove(const std::string& name, std::function<void()> wake);
  TicketPtr Fetch(const std::string& name, std::function<void()> wake);
  Status Pin(const std::string& name, bool pinned);
  Status Offer(const std::string& name);
  Result<Plan> PlanLoad(const std::string& name);
  std::vector<ModelNow> List();
  std::optional<ModelNow> Find(const std::string& name);
  bool is_single() const;
  std::string LockedKnownNames() const {
    const std::lock_guard lock(mutex_);
    return KnownNames();
  }
  std::optional<double> start_progress() const;
  std::vector<PoolEvent> EventsAfter(int64_t number) const;
  int64_t last_event() const;
  std::shared_ptr<void> Subscribe(std::function<void()> wake);

 private:
  using SlotPtr = std::shared_ptr<ModelSlot>;
  using Lock = std::unique_lock<std::mutex>;
  struct Job {
    enum class Kind : uint8_t { kLoad, kUnload, kSwap };
    Kind kind = Kind::kLoad;
    SlotPtr slot;
    std::shared_ptr<Ticket> ticket;                  // may be null
    std::string source;                              // of kSwap
    std::shared_ptr<Residence> residence = nullptr;  // of kUnload: instead of the slot's
  };
  struct FetchJob {
    std::string name;
    std::shared_ptr<Ticket> ticket;
  };

  // All of these want mutex_ held.
  SlotPtr FindSlot(const std::string& name) const;
  std::string KnownNames() const;
  void BeginLoad(const SlotPtr& slot);
  ModelLease LeaseOf(const std::shared_ptr<Residence>& residence);
  ModelNow NowOf(const ModelSlot& slot);
  void SetState(ModelSlot& slot, ModelState state);
  void Emit(PoolEvent event);
  int64_t UsedBytes() const;
  // The least that a model is loaded with.
  static int64_t NeededBytes(const ModelNeed& need);
  // The loaded models that may make room, who goes first in front.
  std::vector<SlotPtr> Victims(const ModelSlot* except) const;
  // Takes a model from its slot. It stays in memory until its leases are gone.
  std::shared_ptr<Residence> Retire(ModelSlot& slot);
  // Has a model that no slot has any more let go, now that it has no lease.
  void LetGo(const std::shared_ptr<Residence>& residence);

  // The thread that loads and unloads.
  void WorkMain();
  void DoLoad(Job& job);
  void DoUnload(Job& job);
  // Loads what the slot is to hold. On success it is the slot's.
  Status Bring(ModelSlot& slot, const ModelEntry& entry);
  // Bytes that a model with this need may take, after what had to be unloaded has been.
  Result<int64_t> MakeRoom(Lock& lock, ModelSlot& slot, const ModelNeed& need);
  // Waits until nobody holds it, and lets it go. Cancelled when the pool ends before.
  Status Await(Lock& lock, const std::shared_ptr<Residence>& residence);
  // Tells everyone who waits for a slot.
  void SettleWaiting(Lock& lock, ModelSlot& slot, const Status& status);

  // The thread that fetches.
  void FetchMain();

  const ModelPoolOptions options_;
  const std::unique_ptr<ModelSource> source_;

  mutable std::mutex mutex_;
  std::condition_variable work_;   // jobs_, fetches_ or stop_ have changed
  std::condition_variable freed_;  // a lease has gone, or stop_ is set
  // Guarded by mutex_.
  std::vector<SlotPtr> slots_;
  std::list<std::shared_ptr<Residence>> residences_;  // all in memory, those that go included
  std::deque<Job> jobs_;
  std::deque<FetchJob> fetches_;
  std::deque<PoolEvent> events_;
  int64_t num_events_ = 0;
  std::vector<std::weak_ptr<std::function<void()>>> subscribers_;
  bool stop_ = false;

  std::atomic<bool> cancel_fetch_ = false;  // relaxed: a wish
  std::thread worker_;
  std::thread fetcher_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_MODEL_POOL_INTERNAL_H_
