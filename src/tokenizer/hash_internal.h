#ifndef ADIT_TOKENIZER_HASH_INTERNAL_H_
#define ADIT_TOKENIZER_HASH_INTERNAL_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace adit::tokenizer {

// Mixes every bit of `x` into every bit of the result (the finaliser of MurmurHash3, Appleby).
inline uint64_t MixBits(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCDu;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53u;
  x ^= x >> 33;
  return x;
}

// Hash of a short string, eight bytes at a time.
inline uint64_t HashBytes(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;  // 2^64 divided by the golden ratio
  uint64_t hash = text.size() * kMultiplier;
  while (text.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, text.data(), 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
    text.remove_prefix(8);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, text.data(), text.size());
  return MixBits(hash ^ tail);
}

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_HASH_INTERNAL_H_
