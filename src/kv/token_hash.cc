#include "kv/token_hash.h"

namespace adit::kv {
namespace {

// 2^64 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming, vol. 3, section 6.4).
constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
// The first digits of pi after the point: keeps small seeds, such as salts that count tenants, away from 0, which Mix
// maps to itself.
constexpr uint64_t kOffset = 0x243F6A8885A308D3;

// A bijection, so sequences of one length that differ in their last token alone never collide.
constexpr uint64_t Mix(uint64_t hash) {
  hash *= kMultiplier;
  return hash ^ hash >> 32;
}

}  // namespace

uint64_t HashTokens(uint64_t seed, std::span<const int32_t> tokens) {
  uint64_t hash = Mix((seed ^ kOffset) + tokens.size());
  for (const int32_t token : tokens) hash = Mix(hash ^ static_cast<uint32_t>(token));
  return Mix(hash);
}

}  // namespace adit::kv
