#include "kernels_bench.h"

#include <random>

#include "kernels/dispatch.h"

namespace adit::bench {

std::vector<float> RandomFloats(int64_t size) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
  return values;
}

void SetRates(benchmark::State& state, double bytes, double operations) {
  using benchmark::Counter;
  state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
  state.counters["FLOP/s"] = Counter(operations, Counter::kIsIterationInvariantRate);
}

}  // namespace adit::bench

int main(int argc, char** argv) {
  for (const adit::kernels::KernelSet& set : adit::kernels::KernelSets()) {
    if (!set.available) continue;
    adit::bench::RegisterAttend(*set.table);
    adit::bench::RegisterElementwise(*set.table);
    adit::bench::RegisterMatmul(*set.table);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
