#ifndef ADIT_KV_ID_LIST_H_
#define ADIT_KV_ID_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace adit::kv {

// Some of the ids 0..num_ids-1 in the order in which they were added, each at most once. A doubly linked list whose
// links lie in one array: every operation takes constant time and, after construction, no memory. One thread at a time.
class IdList {
 public:
  static constexpr int32_t kNone = -1;

  explicit IdList(int32_t num_ids) : links_(static_cast<size_t>(num_ids) + 1), end_(num_ids) {
    links_.back() = {end_, end_};
  }

  int32_t size() const { return size_; }
  bool contains(int32_t id) const { return at(id).next != kNone; }
  // The id that has been in the list longest; kNone when the list is empty.
  int32_t front() const { return OrNone(at(end_).next); }
  // The id added after `id`, or kNone. Precondition: the list contains `id`.
  int32_t next(int32_t id) const { return OrNone(at(id).next); }

  // Precondition: the list does not contain `id`.
  void PushBack(int32_t id) {
    ADIT_DCHECK(id != end_ && !contains(id));
    const int32_t last = at(end_).prev;
    at(id) = {last, end_};
    at(last).next = id;
    at(end_).prev = id;
    ++size_;
  }

  // Precondition: the list contains `id`.
  void Remove(int32_t id) {
    ADIT_DCHECK(id != end_ && contains(id));
    const Link link = at(id);
    at(link.prev).next = link.next;
    at(link.next).prev = link.prev;
    at(id) = {};
    --size_;
  }

 private:
  struct Link {
    int32_t prev = kNone;
    int32_t next = kNone;  // kNone: the id is not in the list
  };

  Link& at(int32_t id) { return links_[static_cast<size_t>(id)]; }
  const Link& at(int32_t id) const { return links_[static_cast<size_t>(id)]; }
  int32_t OrNone(int32_t id) const { return id == end_ ? kNone : id; }

  std::vector<Link> links_;  // [num_ids + 1]; the last one closes the ring: its next is the front, its prev the back
  int32_t end_;
  int32_t size_ = 0;
};

}  // namespace adit::kv

#endif  // ADIT_KV_ID_LIST_H_
