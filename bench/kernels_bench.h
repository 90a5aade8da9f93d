#ifndef ADIT_BENCH_KERNELS_BENCH_H_
#define ADIT_BENCH_KERNELS_BENCH_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "kernels/kernel_table.h"

namespace adit::bench {

// Each registers its benchmarks for one kernel set, named <kernel>/<set>/<shape>.
void RegisterAttend(const kernels::KernelTable& table);
void RegisterElementwise(const kernels::KernelTable& table);
void RegisterMatmul(const kernels::KernelTable& table);

// Values in -1..1.
std::vector<float> RandomFloats(int64_t size);

// What one iteration moves and computes, shown as rates.
void SetRates(benchmark::State& state, double bytes, double operations);

}  // namespace adit::bench

#endif  // ADIT_BENCH_KERNELS_BENCH_H_
