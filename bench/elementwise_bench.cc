#include <string>

#include "kernels_bench.h"

namespace adit::bench {
namespace {

using kernels::KernelTable;

void RmsNorm(benchmark::State& state, const KernelTable& table, int64_t dim) {
  std::vector<float> x = RandomFloats(dim);
  const std::vector<float> weight = RandomFloats(dim);
  std::vector<float> out(x.size());
  for (auto _ : state) {
    table.rms_norm({.x = x.data(),
                    .x_stride = dim,
                    .weight = weight.data(),
                    .eps = 1e-5f,
                    .num_rows = 1,
                    .dim = dim,
                    .out = out.data(),
                    .out_stride = dim});
    benchmark::ClobberMemory();
  }
  SetRates(state, 12.0 * static_cast<double>(dim), 4.0 * static_cast<double>(dim));
}

void Rope(benchmark::State& state, const KernelTable& table, bool interleaved) {
  constexpr int kHeads = 32;
  constexpr int kHeadDim = 128;
  std::vector<float> x = RandomFloats(kHeads * kHeadDim);
  const std::vector<float> cos(kHeadDim / 2, 0.6f);
  const std::vector<float> sin(kHeadDim / 2, 0.8f);
  for (auto _ : state) {
    table.rope({.x = x.data(),
                .num_heads = kHeads,
                .head_dim = kHeadDim,
                .cos = cos.data(),
                .sin = sin.data(),
                .num_pairs = kHeadDim / 2,
                .interleaved = interleaved});
    benchmark::ClobberMemory();
  }
  SetRates(state, 8.0 * kHeads * kHeadDim, 3.0 * kHeads * kHeadDim);
}

void Glu(benchmark::State& state, const KernelTable& table, kernels::Activation activation) {
  constexpr int64_t kElements = 4096;
  const std::vector<float> gate = RandomFloats(kElements);
  const std::vector<float> up = RandomFloats(kElements);
  std::vector<float> out(kElements);
  for (auto _ : state) {
    table.glu(
        {.gate = gate.data(), .up = up.data(), .out = out.data(), .num_elements = kElements, .activation = activation});
    benchmark::ClobberMemory();
  }
  SetRates(state, 12.0 * kElements, 20.0 * kElements);
}

void QuantizeQ8(benchmark::State& state, const KernelTable& table, int64_t num_cols) {
  const std::vector<float> x = RandomFloats(num_cols);
  std::vector<std::byte> row(static_cast<size_t>(kernels::Q8RowBytes(num_cols)));
  for (auto _ : state) {
    table.quantize_q8(x.data(), num_cols, row.data());
    benchmark::ClobberMemory();
  }
  SetRates(state, 5.375 * static_cast<double>(num_cols), 4.0 * static_cast<double>(num_cols));
}

}  // namespace

void RegisterElementwise(const KernelTable& table) {
  const std::string set = table.name;
  const auto add = [](const std::string& name, auto function) { benchmark::RegisterBenchmark(name.c_str(), function); };
  for (const int64_t dim : {576, 4096}) {
    const std::string size = std::to_string(dim);
    add("rms_norm/" + set + "/" + size, [&table, dim](benchmark::State& state) { RmsNorm(state, table, dim); });
    add("quantize_q8/" + set + "/" + size, [&table, dim](benchmark::State& state) { QuantizeQ8(state, table, dim); });
  }
  add("rope/" + set + "/halves", [&table](benchmark::State& state) { Rope(state, table, false); });
  add("rope/" + set + "/interleaved", [&table](benchmark::State& state) { Rope(state, table, true); });
  add("glu/" + set + "/silu", [&table](benchmark::State& state) { Glu(state, table, kernels::Activation::kSilu); });
  add("glu/" + set + "/gelu_tanh",
      [&table](benchmark::State& state) { Glu(state, table, kernels::Activation::kGeluTanh); });
}

}  // namespace adit::bench
