#ifndef ADIT_BASE_RNG_H_
#define ADIT_BASE_RNG_H_

#include <array>
#include <cstdint>

// Random numbers without state: each is a function of its arguments, so it does not matter who asks for it, when, or in
// which order. Not for secrets.
namespace adit {

// The block function Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC11: for one key, a bijection of 128-bit counters. Words are in the order in which the paper's library, Random123,
// prints them.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// 64 random bits: the first two words, the first one high, of the block whose key is `seed` and whose counter is
// {position, stream}, low words first. Streams of one seed are independent of each other.
uint64_t RandomBits(uint64_t seed, uint64_t position, uint32_t stream = 0);

// The upper 53 of those bits as a multiple of 2^-53 in [0, 1).
double RandomUniform(uint64_t seed, uint64_t position, uint32_t stream = 0);

}  // namespace adit

#endif  // ADIT_BASE_RNG_H_
