#include "server/request_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/rng.h"

namespace adit::server {

uint64_t NewIdBits() {
  // Drawn once for each thread; bits then follow from its position.
  thread_local const uint64_t seed = (uint64_t{std::random_device()()} << 32) | std::random_device()();
  thread_local uint64_t position = 0;
  return RandomBits(seed, ++position);
}

std::string NewRequestId() {
  const uint64_t high = NewIdBits();
  return fmt::format("{:016x}{:08x}", high, static_cast<uint32_t>(NewIdBits()));
}

void LiveRequests::Add(std::shared_ptr<RequestRecord> record, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  const RequestRecord* key = record.get();
  entries_[key] = {.record = std::move(record), .wake = std::move(wake)};
}

void LiveRequests::Remove(const RequestRecord& record) {
  const std::lock_guard lock(mutex_);
  entries_.erase(&record);
}

std::vector<std::shared_ptr<const RequestRecord>> LiveRequests::List() const {
  std::vector<std::shared_ptr<const RequestRecord>> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) list.push_back(entry.record);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a->start_s < b->start_s; });
  return list;
}

bool LiveRequests::empty() const {
  const std::lock_guard lock(mutex_);
  return entries_.empty();
}

bool LiveRequests::Cancel(const std::string& id) {
  bool found = false;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    if (entry.record->id != id) continue;
    entry.record->cancel.store(true, std::memory_order_relaxed);
    entry.wake();
    found = true;
  }
  return found;
}

void LiveRequests::CancelAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    entry.record->cancel.store(true, std::memory_order_relaxed);
    entry.wake();
  }
}

}  // namespace adit::server
