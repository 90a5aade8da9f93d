#include "plan/multiplier.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace adit::plan {
namespace {

#ifdef __x86_64__

// Twelve sums, more than any of these instructions takes cycles times what a core starts in one. The compiler is told
// of no instruction set: Multipliers gives only what the processor has. Operands are zeros, so that no number is
// subnormal.
#define ADIT_TWELVE(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)
#define ADIT_CLEAR(sum) "vpxor %%xmm" #sum ", %%xmm" #sum ", %%xmm" #sum "\n\t"
#define ADIT_ROUNDS(op)                                                                                         \
  asm volatile(ADIT_TWELVE(ADIT_CLEAR) ADIT_CLEAR(12) ADIT_CLEAR(13) ADIT_CLEAR(14)                             \
                   ADIT_CLEAR(15) ".p2align 4\n1:\n\t" ADIT_TWELVE(op) "dec %0\n\tjnz 1b\n\tvzeroupper"         \
               : "+r"(rounds)                                                                                   \
               :                                                                                                \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

// 32 products of bytes whose sums in pairs are 16 bits wide, added up there: what a run of small codes costs.
#define ADIT_INT8_AVX2(sum) "vpmaddubsw %%ymm14, %%ymm15, %%ymm13\n\tvpaddw %%ymm13, %%ymm" #sum ", %%ymm" #sum "\n\t"
#define ADIT_INT8_VNNI(sum) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #sum "\n\t"
#define ADIT_BF16(sum) "vdpbf16ps %%zmm14, %%zmm15, %%zmm" #sum "\n\t"
#define ADIT_F32_AVX2(sum) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #sum "\n\t"
#define ADIT_F32_AVX512(sum) "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #sum "\n\t"

void Int8Avx2(int64_t rounds) { ADIT_ROUNDS(ADIT_INT8_AVX2); }
void Int8Avx512(int64_t rounds) { ADIT_ROUNDS(ADIT_INT8_VNNI); }
void Bf16Avx512(int64_t rounds) { ADIT_ROUNDS(ADIT_BF16); }
void F32Avx2(int64_t rounds) { ADIT_ROUNDS(ADIT_F32_AVX2); }
void F32Avx512(int64_t rounds) { ADIT_ROUNDS(ADIT_F32_AVX512); }

std::vector<Multiplier> Known() {
  std::vector<Multiplier> known;
  const auto add = [&](std::string_view type, std::string_view set, std::string_view instructions, int64_t products,
                       void (*run)(int64_t)) {
    known.push_back({type, set, instructions, 12 * 2 * products, run});
  };
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    add("int8", "avx2", "vpmaddubsw, vpaddw", 32, Int8Avx2);
    add("f32", "avx2", "vfmadd231ps", 8, F32Avx2);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) {
    add("int8", "avx512", "vpdpbusd", 64, Int8Avx512);
    if (__builtin_cpu_supports("avx512bf16")) add("bf16", "avx512bf16", "vdpbf16ps", 32, Bf16Avx512);
    add("f32", "avx512", "vfmadd231ps", 16, F32Avx512);
  }
  return known;
}

#else

std::vector<Multiplier> Known() { return {}; }

#endif

// Seconds that the team takes for so many rounds each.
double Time(WorkerTeam& team, const Multiplier& multiplier, int64_t rounds) {
  double begin = 0.0;
  double end = 0.0;
  team.Run([&](Worker& worker) {
    worker.Barrier();
    if (worker.index() == 0) begin = SteadySeconds();
    multiplier.run(rounds);
    worker.Barrier();
    if (worker.index() == 0) end = SteadySeconds();
  });
  return end - begin;
}

}  // namespace

std::span<const Multiplier> Multipliers() {
  static const std::vector<Multiplier>* known = new std::vector<Multiplier>(Known());
  return *known;
}

double MeasureOps(WorkerTeam& team, const Multiplier& multiplier) {
  constexpr int kTrials = 7;
  constexpr double kTrialSeconds = 0.02;
  int64_t rounds = 10'000;
  double seconds = Time(team, multiplier, rounds);
  rounds = std::max<int64_t>(rounds, static_cast<int64_t>(static_cast<double>(rounds) * kTrialSeconds / seconds));
  seconds = Time(team, multiplier, rounds);
  for (int trial = 1; trial < kTrials; ++trial) seconds = std::min(seconds, Time(team, multiplier, rounds));
  return static_cast<double>(rounds * multiplier.ops_per_round * team.size()) / seconds;
}

}  // namespace adit::plan
