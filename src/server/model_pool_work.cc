// What a pool of models does about what it is asked: loading, making room, unloading, fetching.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "server/model_pool_internal.h"

namespace adit::server {
namespace {

// The least that a model gets beside its weights, for its cache and for what a pass needs.
constexpr int64_t kLeastCacheBytes = int64_t{64} << 20;
constexpr double kBetweenTellingsS = 0.1;

// Of work that is told of on its way: not every step is news.
class Telling {
 public:
  bool IsTime(double now_s) {
    if (now_s - told_s_ < kBetweenTellingsS) return false;
    told_s_ = now_s;
    return true;
  }

 private:
  double told_s_ = 0.0;
};

}  // namespace

int64_t ModelPool::Impl::UsedBytes() const {
  int64_t used = 0;
  for (const auto& residence : residences_) used += residence->memory_bytes;
  return used;
}

int64_t ModelPool::Impl::NeededBytes(const ModelNeed& need) {
  return need.weight_bytes + std::max({kLeastCacheBytes, need.weight_bytes / 8, need.cache_bytes});
}

std::vector<ModelPool::Impl::SlotPtr> ModelPool::Impl::Victims(const ModelSlot* except) const {
  std::vector<SlotPtr> victims;
  for (const SlotPtr& slot : slots_) {
    if (slot.get() != except && slot->current != nullptr && !slot->entry.pinned) victims.push_back(slot);
  }
  // Idle ones first: nobody waits for them to end.
  std::sort(victims.begin(), victims.end(), [](const SlotPtr& a, const SlotPtr& b) {
    const bool a_idle = a->current->num_leases == 0;
    const bool b_idle = b->current->num_leases == 0;
    return a_idle != b_idle ? a_idle : a->used_s < b->used_s;
  });
  return victims;
}

std::shared_ptr<Residence> ModelPool::Impl::Retire(ModelSlot& slot) {
  std::shared_ptr<Residence> residence = std::move(slot.current);
  slot.current.reset();
  residence->retired = true;
  SetState(slot, ModelState::kUnloaded);
  return residence;
}

void ModelPool::Impl::LetGo(const std::shared_ptr<Residence>& residence) {
  jobs_.push_back(
      {.kind = Job::Kind::kUnload, .slot = nullptr, .ticket = nullptr, .source = {}, .residence = residence});
  work_.notify_all();
}

Status ModelPool::Impl::Await(Lock& lock, const std::shared_ptr<Residence>& residence) {
  freed_.wait(lock, [&] { return residence->num_leases == 0 || stop_; });
  if (residence->num_leases > 0) return Cancelled("the server ends");
  lock.unlock();
  residence->model.reset();
  lock.lock();
  residences_.remove(residence);
  return Status();
}

Result<int64_t> ModelPool::Impl::MakeRoom(Lock& lock, ModelSlot& slot, const ModelNeed& need) {
  // The only one has the whole of the process's memory, which its source knows better.
  if (slots_.size() == 1 && options_.is_single && slot.current == nullptr) return 0;
  if (options_.budget_bytes == 0) return NeededBytes(need) * 2;
  const int64_t needed = NeededBytes(need);
  while (UsedBytes() + needed > options_.budget_bytes) {
    const std::vector<SlotPtr> victims = Victims(&slot);
    std::shared_ptr<Residence> goes;
    const auto retired =
        std::find_if(residences_.begin(), residences_.end(), [](const auto& residence) { return residence->retired; });
    if (retired != residences_.end()) {
      goes = *retired;
    } else if (!victims.empty()) {
      goes = Retire(*victims.front());
    } else if (slot.current != nullptr) {
      // A successor of its own, which takes its place: who asks for it now waits for that.
      goes = Retire(slot);
      SetState(slot, ModelState::kLoading);
    } else {
      return ResourceExhausted(
          "'{}' needs {} MiB; of the {} MiB that there are for models, {} are held by those that stay", slot.entry.name,
          needed >> 20, options_.budget_bytes >> 20, UsedBytes() >> 20);
    }
    ADIT_RETURN_IF_ERROR(Await(lock, goes));
  }
  const int64_t share = options_.budget_bytes / static_cast<int64_t>(std::max<size_t>(1, slots_.size()));
  return std::min(std::max(share, needed), options_.budget_bytes - UsedBytes());
}

Status ModelPool::Impl::Bring(ModelSlot& slot, const ModelEntry& entry) {
  ADIT_ASSIGN_OR_RETURN(const ModelNeed need, source_->NeedOf(entry));
  int64_t budget_bytes = 0;
  {
    Lock lock(mutex_);
    ADIT_ASSIGN_OR_RETURN(budget_bytes, MakeRoom(lock, slot, need));
  }
  Telling telling;
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ServedModel> model,
                        source_->Load(entry, budget_bytes, [&](double share) -> Status {
                          const Lock lock(mutex_);
                          if (stop_) return Cancelled("the server ends");
                          slot.progress = share;
                          if (telling.IsTime(SteadySeconds()))
                            Emit({.model = slot.entry.name, .what = "loading", .progress = share});
                          return Status();
                        }));
  auto residence = std::make_shared<Residence>();
  residence->memory_bytes = model->memory_bytes();
  residence->model = std::move(model);
  const Lock lock(mutex_);
  residences_.push_back(residence);
  slot.current.swap(residence);
  slot.entry.source = entry.source;
  slot.progress = 1.0;
  slot.used_s = SteadySeconds();
  SetState(slot, ModelState::kLoaded);
  // What it takes the place of goes once it is not used any more; nobody waits for that.
  if (residence != nullptr) {
    residence->retired = true;
    if (residence->num_leases == 0) LetGo(residence);
  }
  return Status();
}

void ModelPool::Impl::SettleWaiting(Lock& lock, ModelSlot& slot, const Status& status) {
  std::vector<std::shared_ptr<Ticket>> waiting = std::move(slot.waiting);
  slot.waiting.clear();
  slot.at_start = false;
  std::vector<ModelLease> leases(waiting.size());
  const bool is_there = slot.current != nullptr && !stop_;
  if (is_there) {
    for (ModelLease& lease : leases) lease = LeaseOf(slot.current);
  }
  const Status reason = stop_ ? Cancelled("the server ends") : status;
  lock.unlock();
  for (size_t i = 0; i < waiting.size(); ++i) {
    waiting[i]->Settle({.lease = std::move(leases[i]), .status = is_there ? Status() : reason, .error = {}});
  }
  // With leases that nobody has come for: giving one back takes the lock.
  waiting.clear();
  lock.lock();
}

void ModelPool::Impl::DoLoad(Job& job) {
  ModelSlot& slot = *job.slot;
  ModelEntry entry;
  {
    Lock lock(mutex_);
    entry = slot.entry;
    if (job.kind == Job::Kind::kSwap) entry.source = job.source;
    if (job.kind == Job::Kind::kLoad && slot.current != nullptr) {
      SettleWaiting(lock, slot, Status());
      return;
    }
  }
  Status status = Bring(slot, entry);
  if (!status.ok() && job.kind == Job::Kind::kSwap) {
    // What had to go to make room comes back.
    Lock lock(mutex_);
    entry = slot.entry;
    const bool is_gone = slot.current == nullptr && slot.state == ModelState::kLoading;
    lock.unlock();
    if (is_gone && !Bring(slot, entry).ok()) {
      lock.lock();
      slot.failure = status.message();
      slot.failed_s = SteadySeconds();
      SetState(slot, ModelState::kFailed);
    }
  }
  Lock lock(mutex_);
  if (!status.ok() && job.kind == Job::Kind::kLoad) {
    slot.failure = status.message();
    slot.failed_s = SteadySeconds();
    SetState(slot, ModelState::kFailed);
  }
  SettleWaiting(lock, slot, status);
  const std::shared_ptr<Ticket> ticket = job.ticket;
  lock.unlock();
  if (ticket != nullptr) ticket->Settle({.lease = nullptr, .status = status, .error = std::nullopt});
}

void ModelPool::Impl::DoUnload(Job& job) {
  Status status;
  {
    Lock lock(mutex_);
    std::shared_ptr<Residence> residence = job.residence;
    if (residence == nullptr && job.slot->current != nullptr) residence = Retire(*job.slot);
    if (residence != nullptr) status = Await(lock, residence);
  }
  if (job.ticket != nullptr) job.ticket->Settle({.lease = nullptr, .status = status, .error = std::nullopt});
}

void ModelPool::Impl::WorkMain() {
  while (true) {
    Job job;
    {
      Lock lock(mutex_);
      work_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) break;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (job.kind == Job::Kind::kUnload) {
      DoUnload(job);
    } else {
      DoLoad(job);
    }
  }
  Lock lock(mutex_);
  const Status status = Cancelled("the server ends");
  const std::vector<SlotPtr> slots = slots_;
  for (const SlotPtr& slot : slots) SettleWaiting(lock, *slot, status);
  const std::deque<Job> rest = std::move(jobs_);
  lock.unlock();
  for (const Job& job : rest) {
    if (job.ticket != nullptr) job.ticket->Settle({.lease = nullptr, .status = status, .error = std::nullopt});
  }
}

void ModelPool::Impl::FetchMain() {
  while (true) {
    FetchJob job;
    {
      Lock lock(mutex_);
      work_.wait(lock, [this] { return stop_ || !fetches_.empty(); });
      if (stop_) break;
      job = fetches_.front();
    }
    Telling telling;
    const Status status = source_->Fetch(
        job.name,
        [&](const FetchProgress& bytes) {
          const Lock lock(mutex_);
          if (!telling.IsTime(SteadySeconds())) return;
          const auto total = static_cast<double>(std::max<int64_t>(1, bytes.total_bytes));
          Emit({.model = job.name,
                .what = "fetching",
                .progress = static_cast<double>(bytes.done_bytes) / total,
                .bytes = bytes});
        },
        cancel_fetch_);
    {
      const Lock lock(mutex_);
      fetches_.pop_front();
      Emit({.model = job.name, .what = status.ok() ? "fetched" : "fetch_failed", .error = status.message()});
    }
    job.ticket->Settle({.lease = nullptr, .status = status, .error = std::nullopt});
  }
  Lock lock(mutex_);
  const std::deque<FetchJob> rest = std::move(fetches_);
  lock.unlock();
  for (const FetchJob& job : rest) {
    job.ticket->Settle({.lease = nullptr, .status = Cancelled("the server ends"), .error = std::nullopt});
  }
}

Result<ModelPool::Plan> ModelPool::Impl::PlanLoad(const std::string& name) {
  ModelEntry entry;
  {
    const Lock lock(mutex_);
    if (const SlotPtr slot = FindSlot(name); slot != nullptr) entry = slot->entry;
  }
  if (entry.name.empty()) {
    ADIT_ASSIGN_OR_RETURN(std::string source, source_->Find(name));
    entry = {.name = name, .aliases = {}, .source = std::move(source)};
  }
  Plan plan{.budget_bytes = options_.budget_bytes};
  ADIT_ASSIGN_OR_RETURN(const ModelNeed need, source_->NeedOf(entry));
  plan.weight_bytes = need.weight_bytes;
  plan.needed_bytes = NeededBytes(need);
  const Lock lock(mutex_);
  plan.used_bytes = UsedBytes();
  const SlotPtr slot = FindSlot(entry.name);
  int64_t used = plan.used_bytes;
  const auto fits = [&] { return options_.budget_bytes == 0 || used + plan.needed_bytes <= options_.budget_bytes; };
  if (slot != nullptr && slot->current != nullptr) {
    plan.fits = true;
    return plan;
  }
  for (const SlotPtr& victim : Victims(slot.get())) {
    if (fits()) break;
    used -= victim->current->memory_bytes;
    plan.unloads.push_back(victim->entry.name);
  }
  plan.fits = fits();
  return plan;
}

}  // namespace adit::server
