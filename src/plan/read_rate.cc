#include "plan/read_rate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/clock.h"

namespace adit::plan {
namespace {

constexpr size_t kStride = 256;  // bytes of one turn of a loop

#ifdef __x86_64__

bool HasAvx2() { return __builtin_cpu_supports("avx2"); }

// Prefetch by software only slows this loop on Zen 3.
void ReadAvx2(const std::byte* from, size_t num_bytes) {
  const std::byte* end = from + num_bytes;
  asm volatile(
      "1:\n\t"
      "vpor (%0), %%ymm0, %%ymm0\n\tvpor 32(%0), %%ymm1, %%ymm1\n\t"
      "vpor 64(%0), %%ymm2, %%ymm2\n\tvpor 96(%0), %%ymm3, %%ymm3\n\t"
      "vpor 128(%0), %%ymm0, %%ymm0\n\tvpor 160(%0), %%ymm1, %%ymm1\n\t"
      "vpor 192(%0), %%ymm2, %%ymm2\n\tvpor 224(%0), %%ymm3, %%ymm3\n\t"
      "add $256, %0\n\tcmp %1, %0\n\tjb 1b\n\tvzeroupper"
      : "+r"(from)
      : "r"(end)
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3");
}

#else

bool HasAvx2() { return false; }
void ReadAvx2(const std::byte*, size_t) {}

#endif

// Whatever the compiler makes of eight sums.
void ReadWords(const std::byte* from, size_t num_bytes) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i < num_bytes; i += sizeof(sums)) {
    uint64_t words[8];
    std::memcpy(words, from + i, sizeof(words));
    for (size_t j = 0; j < 8; ++j) sums[j] |= words[j];
  }
  for (const uint64_t sum : sums) asm volatile("" ::"r"(sum));
}

void Read(const std::byte* from, size_t num_bytes) {
  HasAvx2() ? ReadAvx2(from, num_bytes) : ReadWords(from, num_bytes);
}

// Seconds for num_passes over the memory, `share` bytes for each worker.
double Time(WorkerTeam& team, const std::byte* memory, size_t share, int64_t num_passes) {
  double begin = 0.0;
  double end = 0.0;
  team.Run([&](Worker& worker) {
    worker.Barrier();
    if (worker.index() == 0) begin = SteadySeconds();
    for (int64_t pass = 0; pass < num_passes; ++pass) {
      Read(memory + static_cast<size_t>(worker.index()) * share, share);
    }
    worker.Barrier();
    if (worker.index() == 0) end = SteadySeconds();
  });
  return end - begin;
}

}  // namespace

Result<double> MeasureReadRate(WorkerTeam& team, size_t num_bytes) {
  constexpr int kTrials = 7;
  constexpr double kTrialSeconds = 0.02;
  const auto num_workers = static_cast<size_t>(team.size());
  const size_t share = std::max(kStride, num_bytes / num_workers / kStride * kStride);
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer memory, AlignedBuffer::Allocate(share * num_workers, "memory to be read"));
  std::memset(memory.data(), 1, memory.size_bytes());
  double seconds = Time(team, memory.data(), share, 1);
  const int64_t num_passes = std::max<int64_t>(1, static_cast<int64_t>(kTrialSeconds / std::max(seconds, 1e-7)));
  for (int trial = 0; trial < kTrials; ++trial) {
    seconds = std::min(seconds, Time(team, memory.data(), share, num_passes) / static_cast<double>(num_passes));
  }
  return static_cast<double>(share * num_workers) / seconds;
}

}  // namespace adit::plan
