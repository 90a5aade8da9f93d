#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "kernels_bench.h"
#include "tensor/dtype.h"

// Matrix products and packing, and the limits they are to be seen against:
//   limit/read           one thread reading memory; matmul/.../m1 streams its weights from memory
//   limit/products       8-bit products and their sums in registers; 2 operations a product. Types of eight bits have
//   half
//                        of it on AVX2, where bytes of either sign take twice the instructions
//   limit/fma            float products; for plain types with many tokens
// matmul/.../m8 is the batch of a few sequences, matmul/.../m512 prefill.
namespace adit::bench {
namespace {

using kernels::ActivationFormat;
using kernels::KernelTable;
using kernels::MatmulArgs;
using kernels::WeightKernels;

// More than caches hold.
constexpr size_t kStreamBytes = size_t{512} << 20;

AlignedBuffer Allocate(size_t bytes) {
  Result<AlignedBuffer> buffer = AlignedBuffer::Allocate(bytes, "benchmark");
  ADIT_CHECK(buffer.ok());
  return std::move(buffer).value();
}

// A file's rows: random bytes with 0x2c2c..0x2fff, about 0.1, for each pair of bytes that may be a half-precision
// number.
AlignedBuffer RandomRows(size_t bytes) {
  AlignedBuffer rows = Allocate(bytes);
  std::mt19937 random(3);
  auto* halves = rows.as<uint16_t>();
  for (size_t i = 0; i < bytes / 2; ++i) halves[i] = static_cast<uint16_t>((random() & 0x83ff) | 0x2c00);
  return rows;
}

struct Shape {
  int64_t num_rows;
  int64_t num_cols;
};

// As many copies of one packed matrix as fill num_bytes, taken in turn.
class PackedCopies {
 public:
  PackedCopies(const WeightKernels& kernels, DType dtype, Shape shape, size_t num_bytes)
      : kernels_(kernels), shape_(shape) {
    const size_t row_bytes = RowBytes(dtype, shape.num_cols);
    const AlignedBuffer rows = RandomRows(static_cast<size_t>(shape.num_rows) * row_bytes + 1);
    num_panels_ = (shape.num_rows + kernels.panel_rows - 1) / kernels.panel_rows;
    copy_bytes_ = static_cast<size_t>(num_panels_) * kernels.panel_bytes(shape.num_cols);
    num_copies_ = std::max<size_t>(1, num_bytes / copy_bytes_);
    panels_ = Allocate(num_copies_ * copy_bytes_);
    kernels.pack({.rows = rows.data(),
                  .row_bytes = row_bytes,
                  .num_rows = shape.num_rows,
                  .num_cols = shape.num_cols,
                  .panels = panels_.data()},
                 0, num_panels_);
    for (size_t i = 1; i < num_copies_; ++i) std::memcpy(panels_.data() + i * copy_bytes_, panels_.data(), copy_bytes_);
  }

  size_t copy_bytes() const { return copy_bytes_; }
  void MultiplyNext(MatmulArgs args) {
    args.weights = panels_.data() + next_ * copy_bytes_;
    args.num_rows = shape_.num_rows;
    args.num_cols = shape_.num_cols;
    kernels_.matmul(args, 0, num_panels_);
    next_ = (next_ + 1) % num_copies_;
  }

 private:
  const WeightKernels& kernels_;
  Shape shape_;
  int64_t num_panels_ = 0;
  size_t copy_bytes_ = 0;
  size_t num_copies_ = 0;
  size_t next_ = 0;
  AlignedBuffer panels_;
};

void RunMatmul(benchmark::State& state, const KernelTable& table, DType dtype, Shape shape, int64_t num_tokens) {
  const WeightKernels& kernels = table.weights[static_cast<int>(dtype)];
  PackedCopies weights(kernels, dtype, shape, num_tokens > 64 ? 0 : kStreamBytes);
  const std::vector<float> x = RandomFloats(num_tokens * shape.num_cols);
  const int64_t q8_stride = kernels::Q8RowBytes((shape.num_cols + 31) / 32 * 32);
  AlignedBuffer q8 = Allocate(static_cast<size_t>(num_tokens * q8_stride));
  for (int64_t t = 0; t < num_tokens; ++t) {
    table.quantize_q8(x.data() + t * shape.num_cols, shape.num_cols, q8.data() + t * q8_stride);
  }
  std::vector<float> out(static_cast<size_t>(num_tokens * shape.num_rows));
  MatmulArgs args = {.num_tokens = num_tokens, .out = out.data(), .out_stride = shape.num_rows};
  args.activations = {.f32 = x.data(), .f32_stride = shape.num_cols, .q8 = q8.data(), .q8_stride = q8_stride};
  for (auto _ : state) {
    weights.MultiplyNext(args);
    benchmark::ClobberMemory();
  }
  SetRates(state, static_cast<double>(weights.copy_bytes()),
           2.0 * static_cast<double>(num_tokens) * static_cast<double>(shape.num_rows * shape.num_cols));
}

// Bytes of the file packed, read from memory, into memory that has been touched before.
void RunPack(benchmark::State& state, const KernelTable& table, DType dtype) {
  const WeightKernels& kernels = table.weights[static_cast<int>(dtype)];
  constexpr Shape kShape = {.num_rows = 8960, .num_cols = 1536};
  const size_t row_bytes = RowBytes(dtype, kShape.num_cols);
  const AlignedBuffer rows = RandomRows(kShape.num_rows * row_bytes);
  const int64_t num_panels = (kShape.num_rows + kernels.panel_rows - 1) / kernels.panel_rows;
  AlignedBuffer panels = Allocate(static_cast<size_t>(num_panels) * kernels.panel_bytes(kShape.num_cols));
  std::memset(panels.data(), 0, panels.size_bytes());
  for (auto _ : state) {
    kernels.pack({.rows = rows.data(),
                  .row_bytes = row_bytes,
                  .num_rows = kShape.num_rows,
                  .num_cols = kShape.num_cols,
                  .panels = panels.data()},
                 0, num_panels);
    benchmark::ClobberMemory();
  }
  SetRates(state, static_cast<double>(kShape.num_rows * static_cast<int64_t>(row_bytes)), 0.0);
}

#ifdef __x86_64__
// Reads memory as fast as one thread of a machine with AVX2 can; prefetch by software only slows such a loop on Zen 3.
void RunRead(benchmark::State& state) {
  AlignedBuffer memory = Allocate(kStreamBytes);
  std::memset(memory.data(), 1, memory.size_bytes());
  for (auto _ : state) {
    for (size_t i = 0; i < kStreamBytes; i += 128) {
      asm volatile(
          "vpaddb (%0), %%ymm0, %%ymm0\n\tvpaddb 32(%0), %%ymm1, %%ymm1\n\t"
          "vpaddb 64(%0), %%ymm0, %%ymm0\n\tvpaddb 96(%0), %%ymm1, %%ymm1\n\t" ::"r"(memory.data() + i)
          : "xmm0", "xmm1", "memory");
    }
  }
  asm volatile("vzeroupper");
  SetRates(state, static_cast<double>(kStreamBytes), 0.0);
}

// Ten products, each added to a sum of its own. The compiler is not told of an instruction set: these run only where
// the kernel set of the same name does.
void RunProductsAvx2(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
#define ADIT_PRODUCT(sum, product) \
  "vpmaddubsw %%ymm14, %%ymm15, %%ymm" #product "\n\tvpaddw %%ymm" #product ", %%ymm" #sum ", %%ymm" #sum "\n\t"
      asm volatile(ADIT_PRODUCT(0, 10) ADIT_PRODUCT(1, 11) ADIT_PRODUCT(2, 12) ADIT_PRODUCT(3, 13) ADIT_PRODUCT(4, 10)
                       ADIT_PRODUCT(5, 11) ADIT_PRODUCT(6, 12) ADIT_PRODUCT(7, 13) ADIT_PRODUCT(8, 12)
                           ADIT_PRODUCT(9, 13)::
                               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                                 "xmm10", "xmm11", "xmm12", "xmm13");
#undef ADIT_PRODUCT
    }
  }
  asm volatile("vzeroupper");
  SetRates(state, 0.0, 1000.0 * 10 * 64);
}

void RunProductsAvx512(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
#define ADIT_PRODUCT(sum) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #sum "\n\t"
      asm volatile(
          ADIT_PRODUCT(0) ADIT_PRODUCT(1) ADIT_PRODUCT(2) ADIT_PRODUCT(3) ADIT_PRODUCT(4) ADIT_PRODUCT(5)
              ADIT_PRODUCT(6) ADIT_PRODUCT(7) ADIT_PRODUCT(8) ADIT_PRODUCT(9) ADIT_PRODUCT(10) ADIT_PRODUCT(11)::
                  : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef ADIT_PRODUCT
    }
  }
  asm volatile("vzeroupper");
  SetRates(state, 0.0, 1000.0 * 12 * 128);
}

void RunFma(benchmark::State& state, bool zmm) {
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) {
#define ADIT_FMA(w, sum) "vfmadd231ps %%" #w "14, %%" #w "15, %%" #w #sum "\n\t"
#define ADIT_FMA5(w, a, b, c, d, e) ADIT_FMA(w, a) ADIT_FMA(w, b) ADIT_FMA(w, c) ADIT_FMA(w, d) ADIT_FMA(w, e)
#define ADIT_FMAS(w) ADIT_FMA5(w, 0, 1, 2, 3, 4) ADIT_FMA5(w, 5, 6, 7, 8, 9)
      if (zmm) {
        asm volatile(ADIT_FMAS(zmm)::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9");
      } else {
        asm volatile(ADIT_FMAS(ymm)::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9");
      }
#undef ADIT_FMAS
#undef ADIT_FMA5
#undef ADIT_FMA
    }
  }
  asm volatile("vzeroupper");
  SetRates(state, 0.0, 1000.0 * 10 * 2 * (zmm ? 16 : 8));
}

#endif

// `set` names the kernel set that is known to run here.
void RegisterLimits([[maybe_unused]] std::string_view set) {
#ifdef __x86_64__
  if (set == "avx2") {
    benchmark::RegisterBenchmark("limit/read", RunRead);
    benchmark::RegisterBenchmark("limit/products/avx2", RunProductsAvx2);
    benchmark::RegisterBenchmark("limit/fma/avx2", [](benchmark::State& state) { RunFma(state, false); });
  }
  if (set == "avx512") {
    benchmark::RegisterBenchmark("limit/products/avx512", RunProductsAvx512);
    benchmark::RegisterBenchmark("limit/fma/avx512", [](benchmark::State& state) { RunFma(state, true); });
  }
#endif
}

}  // namespace

void RegisterMatmul(const KernelTable& table) {
  RegisterLimits(table.name);
  constexpr Shape kShapes[] = {{576, 576}, {1536, 576}, {576, 1536}, {8960, 1536}};
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (table.weights[i].pack == nullptr) continue;
    const std::string type = std::string(table.name) + "/" + Traits(dtype).name;
    benchmark::RegisterBenchmark(("pack/" + type).c_str(),
                                 [&table, dtype](benchmark::State& state) { RunPack(state, table, dtype); });
    for (const Shape shape : kShapes) {
      if (shape.num_cols % Traits(dtype).block_elements != 0) continue;
      for (const int64_t num_tokens : {1, 8, 512}) {
        const std::string name = "matmul/" + type + "/" + std::to_string(shape.num_rows) + "x" +
                                 std::to_string(shape.num_cols) + "/m" + std::to_string(num_tokens);
        benchmark::RegisterBenchmark(name.c_str(), [&table, dtype, shape, num_tokens](benchmark::State& state) {
          RunMatmul(state, table, dtype, shape, num_tokens);
        });
      }
    }
  }
}

}  // namespace adit::bench
