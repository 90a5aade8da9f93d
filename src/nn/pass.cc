#include "nn/pass.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"

namespace adit::nn {
namespace {

// In eight partial sums, as vectors do it.
float MeanSquare(const float* x, int64_t dim) {
  float sums[8] = {};
  for (int64_t i = 0; i < dim; i += 8) {
    for (int64_t j = 0; j < 8; ++j) sums[j] += x[i + j] * x[i + j];
  }
  float sum = 0.0f;
  for (const float s : sums) sum += s;
  return sum / static_cast<float>(dim);
}

// What the codes of a Q8 row leave of x, as codes of their own, in blocks whose largest number is at least
// least_outlier times the root mean square of the row. Of other blocks `second` says that they have none, and no more.
void QuantizeRemainder(const kernels::KernelTable& kernels, const float* x, const std::byte* first, int64_t dim,
                       float least_outlier, std::byte* second) {
  constexpr int64_t kBlock = 32;
  const int64_t scales = kernels::Q8ScalesOffset(dim);
  const int64_t sums = kernels::Q8SumsOffset(dim);
  const int64_t coded = kernels::Q8CodedOffset(dim);
  const auto* codes = reinterpret_cast<const int8_t*>(first);
  const float least = least_outlier * least_outlier * MeanSquare(x, dim);
  std::memset(second + coded, 0, static_cast<size_t>((dim / kBlock + 7) / 8));
  for (int64_t block = 0; block < dim / kBlock; ++block) {
    float scale;
    std::memcpy(&scale, first + scales + block * 4, sizeof(scale));
    const float largest = scale * 127.0f;
    if (largest * largest < least) continue;
    const int64_t begin = block * kBlock;
    float remainder[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) remainder[i] = x[begin + i] - scale * static_cast<float>(codes[begin + i]);
    alignas(64) std::byte row[kernels::Q8RowBytes(kBlock)];
    kernels.quantize_q8(remainder, kBlock, row);
    std::memcpy(second + begin, row, kBlock);
    std::memcpy(second + scales + block * 4, row + kernels::Q8ScalesOffset(kBlock), 4);
    std::memcpy(second + sums + block * 8, row + kernels::Q8SumsOffset(kBlock), 8);
    second[coded + block / 8] |= row[kernels::Q8CodedOffset(kBlock)] << (block % 8);
  }
}

}  // namespace

void QuantizeRow(const Pass& pass, const ActivationRows& rows, int64_t row) {
  if (rows.q8 == nullptr) return;
  std::byte* first = rows.q8 + row * rows.q8_stride;
  pass.kernels.quantize_q8(rows.Row(row), rows.dim, first);
  if (rows.second == nullptr) return;
  QuantizeRemainder(pass.kernels, rows.Row(row), first, rows.dim, pass.work.least_outlier,
                    rows.second + row * rows.q8_stride);
}

namespace {

// The most products that share an input.
constexpr size_t kMaxJobs = 4;

// Those of `jobs` whose matrices have their columns in `order`.
std::span<const LinearJob> JobsOfOrder(std::span<const LinearJob> jobs, const std::vector<int32_t>& order,
                                       std::array<LinearJob, kMaxJobs>& room) {
  size_t count = 0;
  for (const LinearJob& job : jobs) {
    if (job.linear->column_order == order) room[count++] = job;
  }
  return std::span(room).first(count);
}

// A phase for each order, in which the rows are gathered, and one in which they are multiplied.
void RunGathered(Worker& worker, const Pass& pass, std::span<const LinearJob> jobs, const ActivationRows& rows,
                 int64_t num_tokens) {
  ADIT_DCHECK(jobs.size() <= kMaxJobs);
  std::array<LinearJob, kMaxJobs> room;
  const std::span<const LinearJob> plain = JobsOfOrder(jobs, {}, room);
  if (!plain.empty()) RunLinear(worker, plain, rows.Input(), num_tokens);
  const ActivationRows gathered = pass.work.gathered.Narrowed(rows.dim);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::vector<int32_t>& order = jobs[i].linear->column_order;
    const auto is_same = [&](const LinearJob& job) { return job.linear->column_order == order; };
    if (order.empty() || std::any_of(jobs.begin(), jobs.begin() + static_cast<ptrdiff_t>(i), is_same)) continue;
    worker.Barrier();
    worker.ForRows(num_tokens, [&](int64_t row) {
      const float* from = rows.Row(row);
      float* to = gathered.Row(row);
      for (size_t k = 0; k < order.size(); ++k) to[k] = from[order[k]];
      QuantizeRow(pass, gathered, row);
    });
    worker.Barrier();
    RunLinear(worker, JobsOfOrder(jobs, order, room), gathered.Input(), num_tokens);
  }
}

}  // namespace

void RunLinears(Worker& worker, const Pass& pass, std::span<const LinearJob> jobs, const ActivationRows& rows,
                int64_t num_tokens) {
  const LinearInput input = rows.Input();
  if (pass.observer != nullptr) pass.observer->Observe(worker, jobs, input.rows, num_tokens);
  const auto has_order = [](const LinearJob& job) { return !job.linear->column_order.empty(); };
  if (std::ranges::any_of(jobs, has_order)) return RunGathered(worker, pass, jobs, rows, num_tokens);
  RunLinear(worker, jobs, input, num_tokens);
}

void RunOutputLinear(Worker& worker, const Pass& pass, const Linear& linear, const ActivationRows& input,
                     BlockOutput output) {
  const bool to_residual = output == BlockOutput::kAddToResidual;
  const LinearJob job{.linear = &linear,
                      .out = to_residual ? pass.work.residual : pass.work.block_out,
                      .out_stride = pass.work.hidden_dim,
                      .accumulate = to_residual};
  RunLinears(worker, pass, std::span(&job, 1), input, pass.num_tokens());
}

}  // namespace adit::nn
