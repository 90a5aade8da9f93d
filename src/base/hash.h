#ifndef ADIT_BASE_HASH_H_
#define ADIT_BASE_HASH_H_

#include <cstddef>
#include <cstdint>

namespace adit {

// FNV-1a of 64 bits over all that is added, in its order (Fowler, Noll, Vo). Tells things apart that were not made to
// look alike; no defence against who tries.
class Fnv1a {
 public:
  void Add(const void* data, size_t size_bytes) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size_bytes; ++i) value_ = (value_ ^ bytes[i]) * 1099511628211u;
  }
  void AddNumber(int64_t number) { Add(&number, sizeof(number)); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

}  // namespace adit

#endif  // ADIT_BASE_HASH_H_
