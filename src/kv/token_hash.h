#ifndef ADIT_KV_TOKEN_HASH_H_
#define ADIT_KV_TOKEN_HASH_H_

#include <cstdint>
#include <span>

namespace adit::kv {

// Any function that maps equal arguments to equal hashes. Chained, it hashes a whole path block by block: the hash of
// what came before is the seed of the next block.
using TokenHash = uint64_t (*)(uint64_t seed, std::span<const int32_t> tokens);

// A fast hash with well mixed bits, for tables; not for secrets. About two nanoseconds for each token.
uint64_t HashTokens(uint64_t seed, std::span<const int32_t> tokens);

}  // namespace adit::kv

#endif  // ADIT_KV_TOKEN_HASH_H_
