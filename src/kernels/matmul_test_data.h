#ifndef ADIT_KERNELS_MATMUL_TEST_DATA_H_
#define ADIT_KERNELS_MATMUL_TEST_DATA_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel_table.h"

// Operands of the matrix product for the tests of kernels, and the product in double precision.
namespace adit::kernels {

// Bytes at a multiple of 64 and no more of them than asked for, so that sanitizers see what lies beyond.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size) : bytes_(static_cast<std::byte*>(::operator new(size, kAlignment))), size_(size) {}
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::span<std::byte> span() { return {data(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  size_t size_;
};

// A matrix as a file holds it. Codes and integer scales are random bits; numbers in floating point are of either sign
// and of ordinary size, but for some zeros and subnormal numbers.
class TestWeights {
 public:
  TestWeights(DType dtype, int64_t num_rows, int64_t num_cols, uint32_t seed);

  // Every byte of codes to `byte` and every factor to 1. A plain type has no codes.
  void SetCodes(std::byte byte);

  DType dtype() const { return dtype_; }
  int64_t num_rows() const { return num_rows_; }
  int64_t num_cols() const { return num_cols_; }
  size_t row_bytes() const { return row_bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  std::vector<float> DecodedRow(int64_t row) const;
  // For each weight a bound on the size of the terms whose sum it is: where a type has minima or an offset, a small
  // weight can be the difference of larger numbers, which are rounded.
  std::vector<double> MagnitudesOfRow(int64_t row) const;

 private:
  DType dtype_;
  int64_t num_rows_;
  int64_t num_cols_;
  size_t row_bytes_;
  std::vector<std::byte> bytes_;
};

// Rows of activations in the format that a type multiplies with.
class TestActivations {
 public:
  // Quantises with `table` where `format` says so.
  TestActivations(const KernelTable& table, ActivationFormat format, std::vector<float> values, int64_t num_cols);

  // What the codes leave of the numbers as a second row of codes: of the blocks that `has_term` names, and zeros in
  // others.
  void AddSecondTerms(const KernelTable& table, const std::function<bool(int64_t token, int64_t block)>& has_term);

  ActivationView View(int64_t first_token = 0) const;
  ActivationView SecondTerms(int64_t first_token = 0) const;
  std::span<const float> values() const { return values_; }
  int64_t num_tokens() const { return num_tokens_; }
  // The numbers that the product is to see.
  std::vector<double> Row(int64_t token) const;

 private:
  ActivationFormat format_;
  std::vector<float> values_;
  int64_t num_cols_;
  int64_t num_tokens_;
  AlignedBytes q8_;
  AlignedBytes second_;
  bool has_second_terms_ = false;
};

// Weights packed by one kernel set, in memory of exactly the size they need.
class PackedWeights {
 public:
  PackedWeights(const KernelTable& table, const TestWeights& weights);

  int64_t num_panels() const { return num_panels_; }
  const WeightKernels& kernels() const { return *kernels_; }
  MatmulArgs Args(const TestActivations& x, int64_t num_tokens, float* out) const;
  void Multiply(const MatmulArgs& args) const { kernels_->matmul(args, 0, num_panels_); }

 private:
  const WeightKernels* kernels_;
  int64_t num_rows_;
  int64_t num_cols_;
  int64_t num_panels_;
  AlignedBytes panels_;
};

// The product in double precision, [num_tokens, num_rows], and how far a sum in float32 may be from it.
struct ExpectedProduct {
  std::vector<double> values;
  std::vector<double> tolerances;
};
ExpectedProduct Multiply(const TestWeights& weights, const TestActivations& x, int64_t num_tokens);

// A kernel set that packs weights, and a type; "avx2_q4_0" in names of tests.
struct MatmulCase {
  const KernelTable* table;
  DType dtype;
};
std::vector<MatmulCase> MatmulCases();
std::vector<MatmulCase> BlockMatmulCases();  // those of block types
std::string NameOf(const MatmulCase& matmul_case);

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_MATMUL_TEST_DATA_H_
