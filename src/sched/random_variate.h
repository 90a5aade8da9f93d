#ifndef ADIT_SCHED_RANDOM_VARIATE_H_
#define ADIT_SCHED_RANDOM_VARIATE_H_

#include <cstdint>

// Draws from distributions, made of base/rng.h: each is a function of (seed, position, stream), whoever asks for it and
// in which order.
namespace adit::sched {

// Of mean 0 and variance 1 (Box and Muller 1958).
double StandardNormal(uint64_t seed, uint64_t position, uint32_t stream);

// Of mean 1, above 0.
double StandardExponential(uint64_t seed, uint64_t position, uint32_t stream);

// Of the given shape, above 0, and scale 1: its mean and its variance are `shape` (Marsaglia and Tsang, "A simple
// method for generating gamma variables", 2000).
double Gamma(double shape, uint64_t seed, uint64_t position, uint32_t stream);

}  // namespace adit::sched

#endif  // ADIT_SCHED_RANDOM_VARIATE_H_
