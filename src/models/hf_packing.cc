#include "models/hf_packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "formats/quoted.h"
#include "formats/safetensors_type.h"
#include "tensor/fp8.h"
#include "tensor/half.h"
#include "tensor/int4.h"
#include "tensor/int8.h"

namespace adit::models {
namespace {

using formats::SafetensorsPlan;
using Method = HfQuantization::Method;
using Bytes = std::vector<std::byte>;

constexpr int64_t kInt4BlockCols = 32;
constexpr float kLargestInt8 = 127.0f;
// The nibble of a word that each of eight columns has in AWQ's "gemm" order.
constexpr std::array<int, 8> kAwqPlaces = {0, 4, 1, 5, 2, 6, 3, 7};

int64_t GroupSizeOf(const HfPacking& packing, const HfMatrix& matrix) {
  return packing.quantization.group_size > 0 ? packing.quantization.group_size : matrix.cols;
}

// A matrix of whole numbers, out of its blocks.
class CodesOfMatrix {
 public:
  static Result<CodesOfMatrix> Make(const HfPacking& packing, const HfMatrix& matrix,
                                    std::span<const std::byte> blocks) {
    CodesOfMatrix out(packing, matrix, blocks);
    for (int64_t row = 0; row < matrix.rows; ++row) {
      for (int64_t group = 0; group < out.num_groups_; ++group) ADIT_RETURN_IF_ERROR(out.TakeGroup(row, group));
    }
    return out;
  }

  int64_t num_groups() const { return num_groups_; }
  float Scale(int64_t row, int64_t group) const { return scales_[static_cast<size_t>(row * num_groups_ + group)]; }
  int Zero(int64_t row, int64_t group) const { return zeros_[static_cast<size_t>(row * num_groups_ + group)]; }
  // 0 .. 2^bits - 1.
  int Code(int64_t row, int64_t col) const {
    const std::byte* block = BlockAt(row, col);
    const auto at = static_cast<size_t>(col % kInt4BlockCols);
    if (bits_ == 8) {
      const auto code = static_cast<int8_t>(block[offsetof(BlockInt8, qs) + at]);
      return static_cast<int>(code) + 128;
    }
    const auto byte = static_cast<int>(block[offsetof(BlockInt4, qs) + at % 16]);
    return at < 16 ? byte & 15 : byte >> 4;
  }

 private:
  CodesOfMatrix(const HfPacking& packing, const HfMatrix& matrix, std::span<const std::byte> blocks)
      : bits_(packing.quantization.bits),
        dtype_(bits_ == 8 ? DType::kInt8 : DType::kInt4),
        group_size_(GroupSizeOf(packing, matrix)),
        num_groups_(matrix.cols / group_size_),
        row_bytes_(RowBytes(dtype_, matrix.cols)),
        blocks_(blocks),
        module_(matrix.module),
        scales_(static_cast<size_t>(matrix.rows * num_groups_)),
        zeros_(scales_.size()) {
    ADIT_CHECK(blocks.size() == row_bytes_ * static_cast<size_t>(matrix.rows));
  }

  const std::byte* BlockAt(int64_t row, int64_t col) const {
    return blocks_.data() + static_cast<size_t>(row) * row_bytes_ +
           static_cast<size_t>(col / kInt4BlockCols) * static_cast<size_t>(Traits(dtype_).block_bytes);
  }

  std::pair<float, int> ScaleAndZero(const std::byte* block) const {
    if (bits_ == 8) {
      float scale = 0.0f;
      std::memcpy(&scale, block, sizeof(scale));
      return {scale, 128};
    }
    uint16_t half = 0;
    std::memcpy(&half, block, sizeof(half));
    return {HalfToFloat(half), static_cast<int>(block[offsetof(BlockInt4, zero)])};
  }

  Status TakeGroup(int64_t row, int64_t group) {
    const int64_t begin = group * group_size_;
    const auto first = ScaleAndZero(BlockAt(row, begin));
    if (!std::isfinite(first.first)) {
      return Corrupt("{}: row {} has weights that are not finite", formats::Quoted(module_ + ".weight"), row);
    }
    for (int64_t col = begin; col < begin + group_size_; col += kInt4BlockCols) {
      if (ScaleAndZero(BlockAt(row, col)) == first) continue;
      return Internal("{}: the blocks of group {} of row {} have several scales", formats::Quoted(module_), group, row);
    }
    scales_[static_cast<size_t>(row * num_groups_ + group)] = first.first;
    zeros_[static_cast<size_t>(row * num_groups_ + group)] = first.second;
    return Status();
  }

  int bits_;
  DType dtype_;
  int64_t group_size_;
  int64_t num_groups_;
  size_t row_bytes_;
  std::span<const std::byte> blocks_;
  std::string module_;
  std::vector<float> scales_;  // [rows, groups]
  std::vector<int> zeros_;
};

// Words of 32 bits, which numbers are put into.
class WordPacker {
 public:
  explicit WordPacker(int64_t num_words) : bytes_(static_cast<size_t>(num_words) * sizeof(uint32_t)) {}

  // `value` of `bits` bits from bit `bit` of word `word` on; what goes beyond it is put into the word `stride` further.
  void Put(int64_t word, int64_t stride, int bit, uint32_t value, int bits) {
    Or(word, value << bit);
    if (bit + bits > 32) Or(word + stride, value >> (32 - bit));
  }
  // Number `index` of a stream of `bits`-bit numbers in words `stride` apart, from word `first` on.
  void PutInStream(int64_t first, int64_t stride, int64_t index, int value, int bits) {
    const int64_t bit = index * bits;
    Put(first + bit / 32 * stride, stride, static_cast<int>(bit % 32), static_cast<uint32_t>(value), bits);
  }
  Bytes Take() { return std::move(bytes_); }

 private:
  void Or(int64_t index, uint32_t value) {
    uint32_t word = 0;
    std::byte* at = bytes_.data() + static_cast<size_t>(index) * sizeof(word);
    std::memcpy(&word, at, sizeof(word));
    word |= value;
    std::memcpy(at, &word, sizeof(word));
  }
  Bytes bytes_;
};

template <typename T>
Bytes BytesOf(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Scales of [groups, rows] as halves.
Bytes TransposedScales(const CodesOfMatrix& codes, int64_t rows) {
  std::vector<uint16_t> halves;
  for (int64_t group = 0; group < codes.num_groups(); ++group) {
    for (int64_t row = 0; row < rows; ++row) halves.push_back(FloatToHalf(codes.Scale(row, group)));
  }
  return BytesOf(halves);
}

std::vector<Bytes> PackGptq(const HfPacking& packing, const HfMatrix& matrix, const CodesOfMatrix& codes) {
  const int bits = packing.quantization.bits;
  WordPacker weights(matrix.cols * bits / 32 * matrix.rows);
  WordPacker zeros(codes.num_groups() * (matrix.rows * bits / 32));
  const int mask = (1 << bits) - 1;
  const int less = packing.quantization.zeros_less_one ? 1 : 0;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) {
      weights.PutInStream(row, matrix.rows, col, codes.Code(row, col), bits);
    }
    for (int64_t group = 0; group < codes.num_groups(); ++group) {
      const int zero = (codes.Zero(row, group) - less) & mask;
      zeros.PutInStream(group * (matrix.rows * bits / 32), 1, row, zero, bits);
    }
  }
  std::vector<int32_t> groups;
  for (int64_t col = 0; col < matrix.cols; ++col) {
    groups.push_back(static_cast<int32_t>(col / GroupSizeOf(packing, matrix)));
  }
  return {weights.Take(), zeros.Take(), TransposedScales(codes, matrix.rows), BytesOf(groups)};
}

std::vector<Bytes> PackAwq(const HfMatrix& matrix, const CodesOfMatrix& codes) {
  WordPacker weights(matrix.cols * (matrix.rows / 8));
  WordPacker zeros(codes.num_groups() * (matrix.rows / 8));
  const auto put = [&](WordPacker& words, int64_t line, int64_t row, int value) {
    words.Put(line * (matrix.rows / 8) + row / 8, 1, 4 * kAwqPlaces[static_cast<size_t>(row % 8)],
              static_cast<uint32_t>(value), 4);
  };
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) put(weights, col, row, codes.Code(row, col));
    for (int64_t group = 0; group < codes.num_groups(); ++group) put(zeros, group, row, codes.Zero(row, group));
  }
  return {weights.Take(), zeros.Take(), TransposedScales(codes, matrix.rows)};
}

std::vector<Bytes> PackWords(const HfPacking& packing, const HfMatrix& matrix, const CodesOfMatrix& codes) {
  const int bits = packing.quantization.bits;
  const int64_t words_per_row = matrix.cols * bits / 32;
  WordPacker weights(matrix.rows * words_per_row);
  std::vector<float> scales;
  std::vector<uint16_t> halves;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) {
      weights.PutInStream(row * words_per_row, 1, col, codes.Code(row, col), bits);
    }
    for (int64_t group = 0; group < codes.num_groups(); ++group) {
      scales.push_back(codes.Scale(row, group));
      halves.push_back(FloatToHalf(scales.back()));
    }
  }
  const std::vector<int64_t> shape = {matrix.rows, matrix.cols};
  std::vector<Bytes> parts = {weights.Take(), bits == 8 ? BytesOf(scales) : BytesOf(halves), BytesOf(shape)};
  if (packing.symmetric) return parts;
  // Zero points are packed along the rows.
  const int64_t groups = codes.num_groups();
  WordPacker zeros((matrix.rows * bits + 31) / 32 * groups);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t group = 0; group < groups; ++group)
      zeros.PutInStream(group, groups, row, codes.Zero(row, group), bits);
  }
  parts.push_back(zeros.Take());
  return parts;
}

std::vector<Bytes> PackInt8(const HfMatrix& matrix, const CodesOfMatrix& codes) {
  std::vector<int8_t> weights;
  std::vector<float> scales;
  weights.reserve(static_cast<size_t>(matrix.rows * matrix.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col)
      weights.push_back(static_cast<int8_t>(codes.Code(row, col) - codes.Zero(row, 0)));
    scales.push_back(codes.Scale(row, 0));
  }
  return {BytesOf(weights), BytesOf(scales)};
}

// Rows and columns that share a scale.
std::pair<int64_t, int64_t> Fp8Block(const HfPacking& packing, const HfMatrix& matrix) {
  const HfQuantization& quantization = packing.quantization;
  if (quantization.block_rows > 0) return {quantization.block_rows, quantization.block_cols};
  return {packing.scale_per_tensor ? matrix.rows : 1, matrix.cols};
}

Result<std::vector<Bytes>> PackFp8(const HfPacking& packing, const HfMatrix& matrix, std::span<const std::byte> rows) {
  const auto [block_rows, block_cols] = Fp8Block(packing, matrix);
  const int64_t blocks_per_row = (matrix.cols + block_cols - 1) / block_cols;
  std::vector<float> scales(static_cast<size_t>((matrix.rows + block_rows - 1) / block_rows * blocks_per_row));
  const size_t row_bytes = RowBytes(matrix.fp8_rows, matrix.cols);
  ADIT_CHECK(rows.size() == row_bytes * static_cast<size_t>(matrix.rows));
  std::vector<float> values(static_cast<size_t>(matrix.cols));
  const auto read_row = [&](int64_t row) {
    Traits(matrix.fp8_rows).decode(rows.data() + static_cast<size_t>(row) * row_bytes, values.data(), matrix.cols);
  };
  // What a scale has to be at least for the element.
  const auto least_scale = [&, most = packing.quantization.e5m2 ? kLargestE5M2 : kLargestE4M3](int64_t row,
                                                                                               int64_t col) {
    if (matrix.fp8_rows != DType::kFp8) return std::abs(values[static_cast<size_t>(col)]) / most;
    float scale = 0.0f;
    const auto block = static_cast<size_t>(col / Traits(DType::kFp8).block_elements) * sizeof(BlockFp8);
    std::memcpy(&scale, rows.data() + static_cast<size_t>(row) * row_bytes + block, sizeof(scale));
    return scale;
  };
  const auto scale_at = [&, rows_of_block = block_rows, cols_of_block = block_cols](int64_t row,
                                                                                    int64_t col) -> float& {
    return scales[static_cast<size_t>(row / rows_of_block * blocks_per_row + col / cols_of_block)];
  };
  for (int64_t row = 0; row < matrix.rows; ++row) {
    read_row(row);
    for (int64_t col = 0; col < matrix.cols; ++col) {
      const float least = least_scale(row, col);
      if (!std::isfinite(least)) {
        return Corrupt("{}: row {} has weights that are not finite", formats::Quoted(matrix.module + ".weight"), row);
      }
      float& scale = scale_at(row, col);
      scale = std::max(scale, least);
    }
  }
  std::vector<uint8_t> codes;
  codes.reserve(static_cast<size_t>(matrix.rows * matrix.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    read_row(row);
    for (int64_t col = 0; col < matrix.cols; ++col) {
      const float scale = scale_at(row, col);
      const float quotient = scale > 0.0f ? values[static_cast<size_t>(col)] / scale : 0.0f;
      codes.push_back(packing.quantization.e5m2 ? FloatToE5M2(quotient) : FloatToE4M3(quotient));
    }
  }
  return std::vector<Bytes>{BytesOf(codes), BytesOf(scales)};
}

Result<std::vector<Bytes>> PackWeights(const HfPacking& packing, const HfMatrix& matrix,
                                       std::span<const std::byte> blocks) {
  if (packing.quantization.method == Method::kFp8) return PackFp8(packing, matrix, blocks);
  ADIT_ASSIGN_OR_RETURN(const CodesOfMatrix codes, CodesOfMatrix::Make(packing, matrix, blocks));
  switch (packing.quantization.method) {
    case Method::kGptq:
      return PackGptq(packing, matrix, codes);
    case Method::kAwq:
      return PackAwq(matrix, codes);
    case Method::kPackedInt:
      return PackWords(packing, matrix, codes);
    default:
      return PackInt8(matrix, codes);
  }
}

Status CheckFits(const HfPacking& packing, const HfMatrix& matrix) {
  const HfQuantization& quantization = packing.quantization;
  if (quantization.method == Method::kFp8) return Status();
  const int64_t group_size = GroupSizeOf(packing, matrix);
  if (matrix.cols % group_size != 0 || group_size % kInt4BlockCols != 0) {
    return InvalidArgument(
        "{}: {} columns are no whole number of groups of {}; wanted a group size that is a multiple of 32 and divides "
        "it",
        formats::Quoted(matrix.module + ".weight"), matrix.cols, group_size);
  }
  const bool packs_rows = quantization.method == Method::kGptq || quantization.method == Method::kAwq;
  if (packs_rows && matrix.rows * quantization.bits % 32 != 0) {
    return InvalidArgument("{}: {} rows of {} bits fill no whole words of 32, which this format needs",
                           formats::Quoted(matrix.module + ".weight"), matrix.rows, quantization.bits);
  }
  return Status();
}

std::vector<SafetensorsPlan> WeightPlans(const HfPacking& packing, const HfMatrix& matrix) {
  const int64_t bits = packing.quantization.bits;
  const int64_t rows = matrix.rows;
  const int64_t cols = matrix.cols;
  const int64_t groups = cols / GroupSizeOf(packing, matrix);
  const auto plan = [&](const char* part, const char* type, std::vector<int64_t> shape) {
    return SafetensorsPlan{
        .name = matrix.module + part, .type = formats::FindSafetensorsType(type), .shape = std::move(shape)};
  };
  switch (packing.quantization.method) {
    case Method::kGptq:
      return {plan(".qweight", "I32", {cols * bits / 32, rows}), plan(".qzeros", "I32", {groups, rows * bits / 32}),
              plan(".scales", "F16", {groups, rows}), plan(".g_idx", "I32", {cols})};
    case Method::kAwq:
      return {plan(".qweight", "I32", {cols, rows / 8}), plan(".qzeros", "I32", {groups, rows / 8}),
              plan(".scales", "F16", {groups, rows})};
    case Method::kPackedInt: {
      std::vector<SafetensorsPlan> plans = {plan(".weight_packed", "I32", {rows, cols * bits / 32}),
                                            plan(".weight_scale", bits == 8 ? "F32" : "F16", {rows, groups}),
                                            plan(".weight_shape", "I64", {2})};
      if (!packing.symmetric) plans.push_back(plan(".weight_zero_point", "I32", {(rows * bits + 31) / 32, groups}));
      return plans;
    }
    case Method::kInt8:
      return {plan(".weight", "I8", {rows, cols}), plan(".weight_scale", "F32", {rows, 1})};
    case Method::kFp8:
      break;
  }
  const auto [block_rows, block_cols] = Fp8Block(packing, matrix);
  std::vector<int64_t> scale_shape = {(rows + block_rows - 1) / block_rows, (cols + block_cols - 1) / block_cols};
  if (packing.scale_per_tensor) scale_shape = {1};
  const char* scale = packing.quantization.block_rows > 0 ? ".weight_scale_inv" : ".weight_scale";
  return {plan(".weight", packing.quantization.e5m2 ? "F8_E5M2" : "F8_E4M3", {rows, cols}),
          plan(scale, "F32", std::move(scale_shape))};
}

}  // namespace

Result<std::vector<SafetensorsPlan>> HfPackedPlans(const HfPacking& packing, const HfMatrix& matrix) {
  ADIT_RETURN_IF_ERROR(CheckFits(packing, matrix));
  std::vector<SafetensorsPlan> plans = WeightPlans(packing, matrix);
  if (packing.static_inputs) {
    plans.push_back(
        {.name = matrix.module + ".input_scale", .type = formats::FindSafetensorsType("F32"), .shape = {1}});
  }
  return plans;
}

Result<std::vector<Bytes>> PackHfMatrix(const HfPacking& packing, const HfMatrix& matrix,
                                        std::span<const std::byte> blocks) {
  ADIT_RETURN_IF_ERROR(CheckFits(packing, matrix));
  ADIT_ASSIGN_OR_RETURN(std::vector<Bytes> parts, PackWeights(packing, matrix, blocks));
  if (packing.static_inputs) {
    const bool is_int8 = packing.quantization.method == Method::kInt8;
    // No scale is 0: what never comes in takes any.
    const float largest = matrix.largest_input > 0.0f ? matrix.largest_input : 1.0f;
    parts.push_back(BytesOf(std::vector<float>{largest / (is_int8 ? kLargestInt8 : kLargestE4M3)}));
  }
  return parts;
}

}  // namespace adit::models
