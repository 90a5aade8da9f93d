#include "plan/matmul_rate.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "nn/linear.h"

namespace adit::plan {
namespace {

// Weights of so few tokens are read from memory rather than from a cache, so many bytes of copies.
constexpr int64_t kFewTokens = 64;
constexpr size_t kStreamBytes = size_t{512} << 20;

// A file's rows: random codes, and about 0.1 for each pair of bytes that may be a half-precision number.
Result<AlignedBuffer> RandomRows(size_t num_bytes) {
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer rows, AlignedBuffer::Allocate(num_bytes + 8, "random weights"));
  for (size_t i = 0; i < num_bytes; i += 8) {
    const uint64_t word = (RandomBits(3, i) & 0x83ff83ff83ff83ffu) | 0x2c002c002c002c00u;
    std::memcpy(rows.data() + i, &word, sizeof(word));
  }
  return rows;
}

// Copies of one packed matrix in one buffer.
struct PackedCopies {
  AlignedBuffer buffer;
  std::vector<nn::Linear> copies;
};

Result<PackedCopies> Pack(const kernels::KernelTable& kernels, const MatmulShape& shape) {
  PackedCopies packed;
  const nn::PackedMatrix matrix(kernels, shape.dtype, shape.num_rows, shape.num_cols);
  const size_t row_bytes = RowBytes(shape.dtype, shape.num_cols);
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer rows, RandomRows(static_cast<size_t>(shape.num_rows) * row_bytes));
  const size_t size = matrix.needs_packing() ? matrix.packed_bytes() : (rows.size_bytes() + 63) / 64 * 64;
  const size_t count = shape.num_tokens > kFewTokens ? 1 : std::max<size_t>(1, kStreamBytes / size);
  ADIT_ASSIGN_OR_RETURN(packed.buffer, AlignedBuffer::Allocate(count * size, "packed weights"));
  if (matrix.needs_packing()) {
    matrix.PackRows(rows.data(), shape.num_rows, packed.buffer.data());
  } else {
    std::memcpy(packed.buffer.data(), rows.data(), rows.size_bytes());
  }
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) std::memcpy(packed.buffer.data() + i * size, packed.buffer.data(), size);
    packed.copies.push_back({.matrix = matrix, .bias = {}});
    packed.copies.back().matrix.set_data(packed.buffer.data() + i * size);
  }
  return packed;
}

}  // namespace

Result<MatmulTime> TimeMatmul(WorkerTeam& team, const kernels::KernelTable& kernels, const MatmulShape& shape) {
  if (kernels.weights[static_cast<int>(shape.dtype)].matmul == nullptr) {
    return InvalidArgument("kernels {}: no product for {}", kernels.name, Traits(shape.dtype).name);
  }
  if (shape.num_cols % std::max<int64_t>(32, Traits(shape.dtype).block_elements) != 0) {
    return InvalidArgument("{} columns are no multiple of a block of {}", shape.num_cols, Traits(shape.dtype).name);
  }
  ADIT_ASSIGN_OR_RETURN(const PackedCopies packed, Pack(kernels, shape));
  std::vector<float> x(static_cast<size_t>(shape.num_tokens * shape.num_cols));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(RandomUniform(5, i)) - 0.5f;
  const int64_t q8_stride = kernels::Q8RowBytes(shape.num_cols);
  ADIT_ASSIGN_OR_RETURN(AlignedBuffer q8,
                        AlignedBuffer::Allocate(static_cast<size_t>(shape.num_tokens * q8_stride), "activations"));
  for (int64_t t = 0; t < shape.num_tokens; ++t) {
    kernels.quantize_q8(x.data() + t * shape.num_cols, shape.num_cols, q8.data() + t * q8_stride);
  }
  std::vector<float> out(static_cast<size_t>(shape.num_tokens * shape.num_rows));
  const nn::LinearInput input = {
      .rows = {.f32 = x.data(), .f32_stride = shape.num_cols, .q8 = q8.data(), .q8_stride = q8_stride},
      .second_terms = {}};

  size_t next = 0;
  // Seconds of so many products in one region: what starting it costs is shared by all.
  const auto time = [&](int64_t count) {
    double begin = 0.0;
    double end = 0.0;
    team.Run([&](Worker& worker) {
      worker.Barrier();
      if (worker.index() == 0) begin = SteadySeconds();
      for (int64_t i = 0; i < count; ++i) {
        const nn::Linear& linear = packed.copies[(next + static_cast<size_t>(i)) % packed.copies.size()];
        const nn::LinearJob job = {.linear = &linear, .out = out.data(), .out_stride = shape.num_rows};
        nn::RunLinear(worker, std::span(&job, 1), input, shape.num_tokens);
        worker.Barrier();
      }
      if (worker.index() == 0) end = SteadySeconds();
    });
    next += static_cast<size_t>(count);
    return end - begin;
  };
  // A trial is long enough for the clock, and few products where the machine is so busy that each barrier waits.
  constexpr size_t kTrials = 7;
  constexpr double kTrialSeconds = 0.02;
  constexpr double kAllSeconds = 1.0;
  constexpr int64_t kMostProducts = 1000;
  const double begin = SteadySeconds();
  const auto wanted = static_cast<int64_t>(kTrialSeconds / std::max(time(1), 1e-7));
  const int64_t count = std::clamp<int64_t>(wanted, 1, kMostProducts);
  std::vector<double> trials;
  while (trials.empty() || (trials.size() < kTrials && SteadySeconds() - begin < kAllSeconds)) {
    trials.push_back(time(count) / static_cast<double>(count));
  }
  std::sort(trials.begin(), trials.end());
  return MatmulTime{.seconds = trials[trials.size() / 2],
                    .weight_bytes = static_cast<double>(packed.copies.front().matrix.num_panels()) *
                                    static_cast<double>(packed.copies.front().matrix.panel_bytes()),
                    .ops = 2.0 * static_cast<double>(shape.num_tokens) * static_cast<double>(shape.num_rows) *
                           static_cast<double>(shape.num_cols)};
}

}  // namespace adit::plan
