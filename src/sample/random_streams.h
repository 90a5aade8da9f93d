#ifndef ADIT_SAMPLE_RANDOM_STREAMS_H_
#define ADIT_SAMPLE_RANDOM_STREAMS_H_

#include <cstdint>

namespace adit::sample {

// Streams of random numbers for one seed and position: each use has its own, so that none changes what another draws.
inline constexpr uint32_t kDrawStream = 0;
inline constexpr uint32_t kXtcStream = 1;

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_RANDOM_STREAMS_H_
