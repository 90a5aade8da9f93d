#include "kernels/matmul_test_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "kernels/test_data.h"
#include "kernels/test_tables.h"
#include "tensor/half.h"

namespace adit::kernels {
namespace {

// Where a block has half-precision numbers and codes; other bytes are integer scales. Where its factor is no such
// number put_factor sets it to one near `half`.
struct BlockLayout {
  std::vector<int> halves;
  int codes_begin;
  int codes_end;
  void (*put_factor)(uint16_t half, std::byte* block) = nullptr;

  bool IsPlain() const { return halves.empty() && put_factor == nullptr; }
};

// The factor of IQ1_M lies in the upper four bits of four words.
void PutFactorIQ1M(uint16_t half, std::byte* block) {
  for (int i = 0; i < 4; ++i) {
    std::byte& high = block[48 + 2 * i + 1];
    high = (high & std::byte{0x0f}) | static_cast<std::byte>((half >> (4 * i) & 15) << 4);
  }
}

// Powers of two from 2^-128, of which the first two are subnormal.
void PutFactorMXFP4(uint16_t half, std::byte* block) {
  const float value = std::abs(HalfToFloat(half));
  block[0] = value < 0x1p-14f ? static_cast<std::byte>(half & 1) : static_cast<std::byte>(std::ilogb(value) + 128);
}

void PutFactorInt8(uint16_t half, std::byte* block) {
  const float value = HalfToFloat(half);
  std::memcpy(block, &value, sizeof(value));
}

// Any byte is a factor of NVFP4; 0x40 is 1.
void PutFactorNVFP4(uint16_t half, std::byte* block) {
  if (half == FloatToHalf(1.0f)) std::memset(block, 0x40, 4);
}

BlockLayout LayoutOf(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
    case DType::kIQ4_NL:
      return {{0}, 2, 18};
    case DType::kQ4_1:
      return {{0, 2}, 4, 20};
    case DType::kQ5_0:
      return {{0}, 2, 22};
    case DType::kQ5_1:
      return {{0, 2}, 4, 24};
    case DType::kQ8_0:
      return {{0}, 2, 34};
    case DType::kQ2_K:
      return {{80, 82}, 16, 80};
    case DType::kQ3_K:
      return {{108}, 0, 96};
    case DType::kQ4_K:
      return {{0, 2}, 16, 144};
    case DType::kQ5_K:
      return {{0, 2}, 16, 176};
    case DType::kQ6_K:
      return {{208}, 0, 192};
    case DType::kIQ4_XS:
      return {{0}, 8, 136};
    case DType::kIQ1_S:
      return {{0}, 2, 34};
    case DType::kIQ1_M:
      return {{}, 0, 48, &PutFactorIQ1M};
    case DType::kIQ2_XXS:
      return {{0}, 2, 66};
    case DType::kIQ2_XS:
      return {{0}, 2, 66};
    case DType::kIQ2_S:
      return {{0}, 2, 74};
    case DType::kIQ3_XXS:
      return {{0}, 2, 98};
    case DType::kIQ3_S:
      return {{0}, 2, 106};
    case DType::kTQ1_0:
      return {{52}, 0, 52};
    case DType::kTQ2_0:
      return {{64}, 0, 64};
    case DType::kMXFP4:
      return {{}, 1, 17, &PutFactorMXFP4};
    case DType::kNVFP4:
      return {{}, 4, 36, &PutFactorNVFP4};
    case DType::kInt4:
      return {{0}, 3, 19};
    case DType::kInt8:
    case DType::kFp8:
      return {{}, 4, 36, &PutFactorInt8};
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  return {{}, 0, 0};
}

void PutHalf(std::byte* to, uint16_t half) { std::memcpy(to, &half, sizeof(half)); }

uint16_t RandomHalf(RandomFloats& random) {
  switch (random.NextInt(0, 9)) {
    case 0:
      return 0;
    case 1:
      return static_cast<uint16_t>(random.NextInt(1, 0x3ff));  // subnormal
    case 2:
      return static_cast<uint16_t>(random.NextInt(0x8001, 0x83ff));
    default:
      return FloatToHalf(random.Next(0.1f));
  }
}

// A plain number of the type.
void PutPlain(DType dtype, RandomFloats& random, std::byte* to) {
  const float value = random.NextInt(0, 19) == 0 ? 0.0f : random.Next();
  if (dtype == DType::kF32) {
    std::memcpy(to, &value, sizeof(value));
  } else if (dtype == DType::kF16) {
    PutHalf(to, random.NextInt(0, 19) == 0 ? RandomHalf(random) : FloatToHalf(value));
  } else {
    PutHalf(to, FloatToBf16(value));
  }
}

}  // namespace

TestWeights::TestWeights(DType dtype, int64_t num_rows, int64_t num_cols, uint32_t seed)
    : dtype_(dtype),
      num_rows_(num_rows),
      num_cols_(num_cols),
      row_bytes_(RowBytes(dtype, num_cols)),
      bytes_(static_cast<size_t>(num_rows) * row_bytes_) {
  RandomFloats random(seed);
  const BlockLayout layout = LayoutOf(dtype);
  const auto block_bytes = static_cast<size_t>(Traits(dtype).block_bytes);
  for (size_t block = 0; block < bytes_.size(); block += block_bytes) {
    if (layout.IsPlain()) {
      PutPlain(dtype, random, &bytes_[block]);
      continue;
    }
    for (size_t i = 0; i < block_bytes; ++i) bytes_[block + i] = static_cast<std::byte>(random.NextInt(0, 255));
    for (const int at : layout.halves) PutHalf(&bytes_[block + static_cast<size_t>(at)], RandomHalf(random));
    if (layout.put_factor != nullptr) layout.put_factor(RandomHalf(random), &bytes_[block]);
  }
}

void TestWeights::SetCodes(std::byte byte) {
  const BlockLayout layout = LayoutOf(dtype_);
  const auto block_bytes = static_cast<size_t>(Traits(dtype_).block_bytes);
  for (size_t block = 0; block < bytes_.size(); block += block_bytes) {
    std::memset(&bytes_[block] + layout.codes_begin, std::to_integer<int>(byte),
                static_cast<size_t>(layout.codes_end - layout.codes_begin));
    for (const int at : layout.halves) PutHalf(&bytes_[block + static_cast<size_t>(at)], FloatToHalf(1.0f));
    if (layout.put_factor != nullptr) layout.put_factor(FloatToHalf(1.0f), &bytes_[block]);
  }
}

std::vector<float> TestWeights::DecodedRow(int64_t row) const {
  std::vector<float> decoded(static_cast<size_t>(num_cols_));
  Traits(dtype_).decode(bytes_.data() + static_cast<size_t>(row) * row_bytes_, decoded.data(), num_cols_);
  return decoded;
}

std::vector<double> TestWeights::MagnitudesOfRow(int64_t row) const {
  const std::vector<float> decoded = DecodedRow(row);
  TestWeights without_codes = *this;
  const BlockLayout layout = LayoutOf(dtype_);
  for (size_t block = 0; block < bytes_.size(); block += static_cast<size_t>(Traits(dtype_).block_bytes)) {
    std::memset(&without_codes.bytes_[block] + layout.codes_begin, 0,
                static_cast<size_t>(layout.codes_end - layout.codes_begin));
  }
  const std::vector<float> constant = without_codes.DecodedRow(row);
  std::vector<double> magnitudes(decoded.size());
  for (size_t i = 0; i < decoded.size(); ++i) {
    magnitudes[i] = std::abs(decoded[i]) + (layout.IsPlain() ? 0.0 : 2.0 * std::abs(constant[i]));
  }
  return magnitudes;
}

TestActivations::TestActivations(const KernelTable& table, ActivationFormat format, std::vector<float> values,
                                 int64_t num_cols)
    : format_(format),
      values_(std::move(values)),
      num_cols_(num_cols),
      num_tokens_(static_cast<int64_t>(values_.size()) / num_cols),
      q8_(static_cast<size_t>(num_tokens_ * Q8RowBytes(num_cols))),
      second_(static_cast<size_t>(num_tokens_ * Q8RowBytes(num_cols))) {
  if (format != ActivationFormat::kQ8) return;
  const auto row_bytes = static_cast<size_t>(Q8RowBytes(num_cols));
  for (int64_t t = 0; t < num_tokens_; ++t) {
    table.quantize_q8(values_.data() + t * num_cols, num_cols, q8_.data() + static_cast<size_t>(t) * row_bytes);
  }
}

void TestActivations::AddSecondTerms(const KernelTable& table,
                                     const std::function<bool(int64_t token, int64_t block)>& has_term) {
  for (int64_t t = 0; t < num_tokens_; ++t) {
    const std::vector<double> first = Row(t);
    std::vector<float> rest(static_cast<size_t>(num_cols_));
    for (int64_t i = 0; i < num_cols_; ++i) {
      const auto at = static_cast<size_t>(i);
      if (has_term(t, i / 32))
        rest[at] = static_cast<float>(values_[static_cast<size_t>(t * num_cols_) + at] - first[at]);
    }
    table.quantize_q8(rest.data(), num_cols_, second_.data() + t * Q8RowBytes(num_cols_));
  }
  has_second_terms_ = true;
}

ActivationView TestActivations::SecondTerms(int64_t first_token) const {
  if (!has_second_terms_) return {};
  return {.q8 = second_.data() + first_token * Q8RowBytes(num_cols_), .q8_stride = Q8RowBytes(num_cols_)};
}

ActivationView TestActivations::View(int64_t first_token) const {
  if (format_ != ActivationFormat::kQ8)
    return {.f32 = values_.data() + first_token * num_cols_, .f32_stride = num_cols_};
  return {.q8 = q8_.data() + first_token * Q8RowBytes(num_cols_), .q8_stride = Q8RowBytes(num_cols_)};
}

std::vector<double> TestActivations::Row(int64_t token) const {
  std::vector<double> row(static_cast<size_t>(num_cols_));
  if (format_ != ActivationFormat::kQ8) {
    const auto first = values_.begin() + token * num_cols_;
    std::transform(first, first + num_cols_, row.begin(),
                   [&](float x) { return format_ == ActivationFormat::kBF16 ? Bf16ToFloat(FloatToBf16(x)) : x; });
    return row;
  }
  for (const std::byte* q8 : {View(token).q8, SecondTerms(token).q8}) {
    for (int64_t i = 0; i < num_cols_ && q8 != nullptr; ++i) {
      float scale;
      std::memcpy(&scale, q8 + Q8ScalesOffset(num_cols_) + i / 32 * 4, sizeof(scale));
      row[static_cast<size_t>(i)] += static_cast<double>(scale) * static_cast<int8_t>(q8[i]);
    }
  }
  return row;
}

PackedWeights::PackedWeights(const KernelTable& table, const TestWeights& weights)
    : kernels_(&table.weights[static_cast<int>(weights.dtype())]),
      num_rows_(weights.num_rows()),
      num_cols_(weights.num_cols()),
      num_panels_((num_rows_ + kernels_->panel_rows - 1) / kernels_->panel_rows),
      panels_(static_cast<size_t>(num_panels_) * kernels_->panel_bytes(num_cols_)) {
  kernels_->pack({.rows = weights.bytes().data(),
                  .row_bytes = weights.row_bytes(),
                  .num_rows = num_rows_,
                  .num_cols = num_cols_,
                  .panels = panels_.data()},
                 0, num_panels_);
}

MatmulArgs PackedWeights::Args(const TestActivations& x, int64_t num_tokens, float* out) const {
  return {.weights = panels_.data(),
          .num_rows = num_rows_,
          .num_cols = num_cols_,
          .activations = x.View(),
          .second_terms = x.SecondTerms(),
          .num_tokens = num_tokens,
          .out = out,
          .out_stride = num_rows_};
}

// Each of the num_cols / 16 sums of a term at most, or num_cols products with float activations, that are added up in
// turn rounds by no more than the sum of all magnitudes; a few more roundings are those of a weight, its scale, its
// term and the last addition.
ExpectedProduct Multiply(const TestWeights& weights, const TestActivations& x, int64_t num_tokens) {
  const bool plain = Traits(weights.dtype()).block_elements == 1 || weights.dtype() == DType::kFp8;
  const double roundings = static_cast<double>(plain ? weights.num_cols() : weights.num_cols() / 8) + 8.0;
  const auto num_rows = static_cast<size_t>(weights.num_rows());
  ExpectedProduct expected;
  expected.values.resize(static_cast<size_t>(num_tokens) * num_rows);
  expected.tolerances.resize(expected.values.size());
  std::vector<std::vector<double>> tokens;
  for (int64_t t = 0; t < num_tokens; ++t) tokens.push_back(x.Row(t));
  for (size_t row = 0; row < num_rows; ++row) {
    const std::vector<float> w = weights.DecodedRow(static_cast<int64_t>(row));
    const std::vector<double> magnitudes = weights.MagnitudesOfRow(static_cast<int64_t>(row));
    for (size_t t = 0; t < tokens.size(); ++t) {
      double sum = 0.0;
      double magnitude = 0.0;
      for (size_t k = 0; k < w.size(); ++k) {
        sum += w[k] * tokens[t][k];
        magnitude += magnitudes[k] * std::abs(tokens[t][k]);
      }
      expected.values[t * num_rows + row] = sum;
      expected.tolerances[t * num_rows + row] = kEpsilon * roundings * magnitude;
    }
  }
  return expected;
}

std::vector<MatmulCase> MatmulCases() {
  std::vector<MatmulCase> cases;
  std::set<decltype(WeightKernels::pack)> known;  // a set may have kernels of a lower one
  for (const KernelTable* table : ProductTestTables()) {
    for (int i = 0; i < kNumDTypes; ++i) {
      const auto pack = table->weights[i].pack;
      if (pack != nullptr && known.insert(pack).second) cases.push_back({table, static_cast<DType>(i)});
    }
  }
  return cases;
}

std::vector<MatmulCase> BlockMatmulCases() {
  std::vector<MatmulCase> cases = MatmulCases();
  std::erase_if(cases, [](const MatmulCase& matmul_case) {
    return Traits(matmul_case.dtype).block_elements == 1 || matmul_case.dtype == DType::kFp8;
  });
  return cases;
}

std::string NameOf(const MatmulCase& matmul_case) {
  return std::string(matmul_case.table->name) + "_" + Traits(matmul_case.dtype).name;
}

}  // namespace adit::kernels
