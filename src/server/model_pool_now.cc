// What a pool of models tells of itself.
#include <fmt/core.h>

#include <utility>

#include "server/model_pool_internal.h"

namespace adit::server {
namespace {

constexpr size_t kMaxEventsKept = 512;

}  // namespace

std::string_view ModelStateName(ModelState state) {
  switch (state) {
    case ModelState::kUnloaded:
      return "unloaded";
    case ModelState::kLoading:
      return "loading";
    case ModelState::kLoaded:
      return "loaded";
    case ModelState::kFailed:
      return "failed";
  }
  return "unknown";
}

ModelNow ModelPool::Impl::NowOf(const ModelSlot& slot) {
  ModelNow now{.entry = slot.entry, .state = slot.state, .progress = slot.progress, .failure = slot.failure};
  if (slot.current != nullptr) {
    now.num_leases = slot.current->num_leases;
    now.memory_bytes = slot.current->memory_bytes;
    now.lease = LeaseOf(slot.current);
  }
  return now;
}

std::vector<ModelNow> ModelPool::Impl::List() {
  const Lock lock(mutex_);
  std::vector<ModelNow> list;
  for (const SlotPtr& slot : slots_) list.push_back(NowOf(*slot));
  return list;
}

std::optional<ModelNow> ModelPool::Impl::Find(const std::string& name) {
  const Lock lock(mutex_);
  const SlotPtr slot = FindSlot(name);
  return slot == nullptr ? std::nullopt : std::optional(NowOf(*slot));
}

bool ModelPool::Impl::is_single() const {
  const Lock lock(mutex_);
  return slots_.size() == 1;
}

std::string ModelPool::Impl::KnownNames() const {
  std::string names;
  for (const SlotPtr& slot : slots_) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", slot->entry.name);
    for (const std::string& alias : slot->entry.aliases) names += fmt::format(", '{}'", alias);
  }
  return names.empty() ? "none" : names;
}

std::optional<double> ModelPool::Impl::start_progress() const {
  const Lock lock(mutex_);
  for (const SlotPtr& slot : slots_) {
    if (slot->at_start) return slot->progress;
  }
  return std::nullopt;
}

void ModelPool::Impl::SetState(ModelSlot& slot, ModelState state) {
  slot.state = state;
  if (state != ModelState::kFailed) slot.failure.clear();
  Emit({.model = slot.entry.name, .what = std::string(ModelStateName(state)), .error = slot.failure});
}

void ModelPool::Impl::Emit(PoolEvent event) {
  event.number = ++num_events_;
  events_.push_back(std::move(event));
  if (events_.size() > kMaxEventsKept) events_.pop_front();
  std::erase_if(subscribers_, [](const auto& subscriber) { return subscriber.expired(); });
  for (const auto& subscriber : subscribers_) {
    if (const auto wake = subscriber.lock(); wake) (*wake)();
  }
}

std::vector<PoolEvent> ModelPool::Impl::EventsAfter(int64_t number) const {
  const Lock lock(mutex_);
  std::vector<PoolEvent> news;
  for (const PoolEvent& event : events_) {
    if (event.number > number) news.push_back(event);
  }
  return news;
}

int64_t ModelPool::Impl::last_event() const {
  const Lock lock(mutex_);
  return num_events_;
}

std::shared_ptr<void> ModelPool::Impl::Subscribe(std::function<void()> wake) {
  auto subscriber = std::make_shared<std::function<void()>>(std::move(wake));
  const Lock lock(mutex_);
  subscribers_.push_back(subscriber);
  return subscriber;
}

}  // namespace adit::server
