#ifndef ADIT_KV_RECENT_HASHES_H_
#define ADIT_KV_RECENT_HASHES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace adit::kv {

// Remembers the last `capacity` different hashes it was given, first in, first out. Memory grows up to that bound. One
// thread at a time.
class RecentHashes {
 public:
  // Precondition: capacity >= 1.
  explicit RecentHashes(size_t capacity);

  // Constant time. A hash that is remembered already keeps its place.
  void Add(uint64_t hash);
  bool Contains(uint64_t hash) const { return known_.contains(hash); }
  void Clear();

  bool empty() const { return ring_.empty(); }
  size_t size() const { return ring_.size(); }

 private:
  size_t capacity_;
  std::vector<uint64_t> ring_;          // [size]; once it is full, oldest_ is the next to go
  size_t oldest_ = 0;                   // index into ring_
  std::unordered_set<uint64_t> known_;  // those of ring_
};

}  // namespace adit::kv

#endif  // ADIT_KV_RECENT_HASHES_H_
