#include "kv/recent_hashes.h"

#include "base/check.h"

namespace adit::kv {

RecentHashes::RecentHashes(size_t capacity) : capacity_(capacity) { ADIT_CHECK(capacity >= 1); }

void RecentHashes::Add(uint64_t hash) {
  if (!known_.insert(hash).second) return;
  if (ring_.size() < capacity_) {
    ring_.push_back(hash);
    return;
  }
  known_.erase(ring_[oldest_]);
  ring_[oldest_] = hash;
  oldest_ = (oldest_ + 1) % capacity_;
}

void RecentHashes::Clear() {
  ring_.clear();
  known_.clear();
  oldest_ = 0;
}

}  // namespace adit::kv
