#include "models/hf_quantized_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "formats/quoted.h"
#include "tensor/encode.h"
#include "tensor/fp8.h"
#include "tensor/half.h"
#include "tensor/int4.h"
#include "tensor/int8.h"

namespace adit::models {
namespace {

using formats::Quoted;
using formats::SafetensorsTensor;
using Method = HfQuantization::Method;

constexpr int64_t kBlock = 32;

// Where AWQ's "gemm" order puts each of eight columns among the nibbles of a word.
constexpr std::array<int, 8> kAwqNibble = {0, 4, 1, 5, 2, 6, 3, 7};

constexpr std::array<std::string_view, 10> kParts = {
    ".qzeros",      ".scales",           ".g_idx",        ".weight_shape", ".weight_scale",
    ".input_scale", ".weight_scale_inv", ".weight_g_idx", ".output_scale", ".weight_zero_point"};

uint32_t WordAt(const SafetensorsTensor& tensor, int64_t index) {
  uint32_t word;
  std::memcpy(&word, tensor.data.data() + static_cast<size_t>(index) * sizeof(word), sizeof(word));
  return word;
}

// Number `index` of a stream of `bits`-bit numbers in words that lie `stride` apart, from word `first` on.
int BitsAt(const SafetensorsTensor& words, int64_t first, int64_t stride, int64_t index, int bits) {
  const int64_t bit = index * bits;
  const int64_t word = bit / 32;
  const int shift = static_cast<int>(bit % 32);
  uint32_t value = WordAt(words, first + word * stride) >> shift;
  if (shift + bits > 32) value |= WordAt(words, first + (word + 1) * stride) << (32 - shift);
  return static_cast<int>(value & ((uint32_t{1} << bits) - 1));
}

std::string ShapeOf(const SafetensorsTensor& tensor) {
  std::string text = "[";
  for (const int64_t size : tensor.shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

Status WantShape(const SafetensorsTensor& tensor, std::vector<int64_t> wanted) {
  if (tensor.shape == wanted) return Status();
  const SafetensorsTensor shaped{.name = {}, .type = nullptr, .shape = std::move(wanted), .data = {}};
  return Corrupt("tensor {} is {}, wanted {} by config.json's quantization_config", Quoted(tensor.name),
                 ShapeOf(tensor), ShapeOf(shaped));
}

Status WantType(const SafetensorsTensor& tensor, std::string_view type) {
  if (tensor.type->name == type) return Status();
  return Corrupt("tensor {} is of type {}, wanted {}", Quoted(tensor.name), tensor.type->name, type);
}

std::vector<float> Widened(const SafetensorsTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
  const auto decode = tensor.type->dtype ? Traits(*tensor.type->dtype).decode : tensor.type->decode;
  decode(tensor.data.data(), values.data(), tensor.num_elements());
  return values;
}

std::string_view Fp8Type(const HfQuantization& quantization) { return quantization.e5m2 ? "F8_E5M2" : "F8_E4M3"; }

bool FitsHalf(float value) { return HalfToFloat(FloatToHalf(value)) == value; }

std::string_view StoredType(const HfQuantization& quantization) {
  switch (quantization.method) {
    case Method::kGptq:
      return quantization.bits == 8 ? "GPTQ 8 bits" : quantization.bits == 4 ? "GPTQ 4 bits" : "GPTQ";
    case Method::kAwq:
      return "AWQ";
    case Method::kPackedInt:
      return quantization.bits == 8 ? "W8A16" : "W4A16";
    case Method::kInt8:
      return "W8A8";
    case Method::kFp8:
      return "FP8";
  }
  return {};
}

// Codes of E5M2 as ones of E4M3, times a power of two. Two bits of mantissa are three, the last of them 0: all is as it
// was, but for codes below 2^-15 of the block's largest, which are rounded to 2^-17 of the power of two that it
// reaches.
void WidenE5M2(BlockFp8& block) {
  uint8_t largest = 0;
  for (const uint8_t code : block.qs) largest = std::max<uint8_t>(largest, code & 0x7f);
  if (largest == 0) return;
  const int shift = std::ilogb(E5M2ToFloat(largest)) - std::ilogb(kLargestE4M3);
  for (uint8_t& code : block.qs) code = FloatToE4M3(std::ldexp(E5M2ToFloat(code), -shift));
  block.d = std::ldexp(block.d, shift);
}

}  // namespace

bool HfQuantizedMatrix::IsMainTensor(const HfQuantization& quantization, const SafetensorsTensor& tensor,
                                     const formats::SafetensorsFolder& weights, std::string& module) {
  const auto ends = [&](std::string_view suffix) {
    if (!tensor.name.ends_with(suffix)) return false;
    module = tensor.name.substr(0, tensor.name.size() - suffix.size());
    return true;
  };
  switch (quantization.method) {
    case Method::kGptq:
    case Method::kAwq:
      return ends(".qweight");
    case Method::kPackedInt:
      return ends(".weight_packed");
    case Method::kInt8:
    case Method::kFp8:
      return ends(".weight") && tensor.shape.size() == 2 &&
             (tensor.type->name == "I8" || tensor.type->name == Fp8Type(quantization)) &&
             (weights.Find(module + ".weight_scale").tensor != nullptr ||
              weights.Find(module + ".weight_scale_inv").tensor != nullptr);
  }
  return false;
}

bool HfQuantizedMatrix::IsPart(std::string_view name) {
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.ends_with(part); });
}

Status HfQuantizedMatrix::TakeParts(const std::string& module, const formats::SafetensorsFolder& weights) {
  const auto find = [&](const char* suffix) { return weights.Find(module + suffix).tensor; };
  const auto need = [&](const char* suffix, const Tensor*& out) -> Status {
    out = find(suffix);
    return out != nullptr ? Status() : Corrupt("tensor {} is missing", Quoted(module + suffix));
  };
  switch (quantization_.method) {
    case Method::kGptq:
      order_ = find(".g_idx");
      [[fallthrough]];
    case Method::kAwq:
      ADIT_RETURN_IF_ERROR(need(".qweight", codes_));
      ADIT_RETURN_IF_ERROR(need(".qzeros", zeros_));
      ADIT_RETURN_IF_ERROR(need(".scales", scales_));
      ADIT_RETURN_IF_ERROR(WantType(*zeros_, "I32"));
      return WantType(*codes_, "I32");
    case Method::kPackedInt:
      order_ = find(".weight_g_idx");
      ADIT_RETURN_IF_ERROR(need(".weight_packed", codes_));
      ADIT_RETURN_IF_ERROR(need(".weight_shape", shape_));
      ADIT_RETURN_IF_ERROR(need(".weight_scale", scales_));
      ADIT_RETURN_IF_ERROR(WantType(*codes_, "I32"));
      zeros_ = find(".weight_zero_point");
      return zeros_ != nullptr ? WantType(*zeros_, "I32") : Status();
    case Method::kInt8:
    case Method::kFp8:
      ADIT_RETURN_IF_ERROR(need(".weight", codes_));
      scales_ = find(".weight_scale_inv");
      if (scales_ == nullptr) ADIT_RETURN_IF_ERROR(need(".weight_scale", scales_));
      ADIT_RETURN_IF_ERROR(WantType(*codes_, quantization_.method == Method::kInt8 ? "I8" : Fp8Type(quantization_)));
      break;
  }
  const Tensor* zeros = find(".weight_zero_point");
  if (zeros != nullptr && std::ranges::any_of(zeros->data, [](std::byte byte) { return byte != std::byte{0}; })) {
    return Unsupported("tensor {}: zero points of {} are not supported but for 0", Quoted(zeros->name),
                       codes_->type->name);
  }
  return Status();
}

// Rows and columns by the tensor that has the codes.
Status HfQuantizedMatrix::TakeShape() {
  const int64_t bits = quantization_.bits;
  if (codes_->shape.size() != 2 || codes_->num_elements() == 0) {
    return Corrupt("tensor {} is {}, wanted a matrix", Quoted(codes_->name), ShapeOf(*codes_));
  }
  switch (quantization_.method) {
    case Method::kGptq:
      rows_ = codes_->shape[1];
      cols_ = codes_->shape[0] * 32 / bits;
      break;
    case Method::kAwq:
      rows_ = codes_->shape[1] * 8;
      cols_ = codes_->shape[0];
      break;
    case Method::kPackedInt: {
      const std::vector<float> shape = shape_->type->is_real() ? Widened(*shape_) : std::vector<float>();
      if (shape.size() != 2 || shape[0] != static_cast<float>(codes_->shape[0]) ||
          std::ceil(shape[1] * static_cast<float>(bits) / 32.0f) != static_cast<float>(codes_->shape[1])) {
        return Corrupt("tensor {} disagrees with {} of shape {}", Quoted(shape_->name), Quoted(codes_->name),
                       ShapeOf(*codes_));
      }
      rows_ = codes_->shape[0];
      cols_ = static_cast<int64_t>(shape[1]);
      break;
    }
    case Method::kInt8:
    case Method::kFp8:
      rows_ = codes_->shape[0];
      cols_ = codes_->shape[1];
      break;
  }
  group_size_ = quantization_.group_size > 0 ? quantization_.group_size : cols_;
  return Status();
}

Status HfQuantizedMatrix::CheckShapes() const {
  const int64_t groups = (cols_ + group_size_ - 1) / group_size_;
  const int64_t bits = quantization_.bits;
  switch (quantization_.method) {
    case Method::kGptq:
      if (rows_ * bits % 32 != 0) return Corrupt("{}: {} rows of {} bits fill no whole words", where_, rows_, bits);
      [[fallthrough]];
    case Method::kAwq:
      ADIT_RETURN_IF_ERROR(WantShape(*scales_, {groups, rows_}));
      return WantShape(*zeros_, {groups, rows_ * bits / 32});
    case Method::kPackedInt:
      ADIT_RETURN_IF_ERROR(WantShape(*scales_, {rows_, groups}));
      return zeros_ != nullptr ? WantShape(*zeros_, {(rows_ * bits + 31) / 32, groups}) : Status();
    case Method::kInt8:
    case Method::kFp8:
      break;
  }
  if (quantization_.block_rows > 0) {
    return WantShape(*scales_, {(rows_ + quantization_.block_rows - 1) / quantization_.block_rows,
                                (cols_ + quantization_.block_cols - 1) / quantization_.block_cols});
  }
  const int64_t count = scales_->num_elements();
  if (count == 1 || count == rows_) return Status();
  return Corrupt("tensor {} has {} scales for {} rows, wanted one for all or one each", Quoted(scales_->name), count,
                 rows_);
}

Status HfQuantizedMatrix::CheckScales() {
  if (!scales_->type->is_real()) {
    return Corrupt("tensor {} is of type {}, wanted numbers", Quoted(scales_->name), scales_->type->name);
  }
  scale_values_ = Widened(*scales_);
  for (const float scale : scale_values_) {
    if (!std::isfinite(scale)) return Corrupt("tensor {} has the scale {}", Quoted(scales_->name), scale);
  }
  return Status();
}

// The groups of columns, where they are not simply one after another.
Status HfQuantizedMatrix::TakeOrder() {
  if (order_ == nullptr) return Status();
  ADIT_RETURN_IF_ERROR(WantShape(*order_, {cols_}));
  ADIT_RETURN_IF_ERROR(WantType(*order_, "I32"));
  const int64_t groups = (cols_ + group_size_ - 1) / group_size_;
  bool in_order = true;
  groups_.resize(static_cast<size_t>(cols_));
  for (int64_t col = 0; col < cols_; ++col) {
    const auto group = static_cast<int32_t>(WordAt(*order_, col));
    if (group < 0 || group >= groups) {
      return Corrupt("tensor {} puts column {} into group {} of {}", Quoted(order_->name), col, group, groups);
    }
    groups_[static_cast<size_t>(col)] = group;
    in_order &= group == col / group_size_;
  }
  if (in_order) groups_.clear();
  return Status();
}

// What rows have whose groups are one after another.
DType HfQuantizedMatrix::TypeOfGroups() const {
  if (cols_ % kBlock != 0) return DType::kF32;
  if (quantization_.bits <= 4) return std::ranges::all_of(scale_values_, FitsHalf) ? DType::kInt4 : DType::kF32;
  // Zero points in the middle leave codes of eight bits with their sign.
  if (zeros_ != nullptr) {
    const int64_t groups = (cols_ + group_size_ - 1) / group_size_;
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t row = 0; row < rows_; ++row) {
        if (ZeroAt(row, group) != 128) return DType::kF32;
      }
    }
  }
  return DType::kInt8;
}

// Columns by their groups, where each group is a whole number of blocks.
void HfQuantizedMatrix::SortColumns() {
  std::vector<int64_t> sizes(static_cast<size_t>((cols_ + group_size_ - 1) / group_size_));
  for (const int32_t group : groups_) ++sizes[static_cast<size_t>(group)];
  if (std::ranges::any_of(sizes, [](int64_t size) { return size % kBlock != 0; })) return;
  column_order_.resize(groups_.size());
  std::iota(column_order_.begin(), column_order_.end(), 0);
  std::ranges::stable_sort(column_order_, {}, [this](int32_t col) { return groups_[static_cast<size_t>(col)]; });
}

void HfQuantizedMatrix::ChooseType() {
  stored_type_ = StoredType(quantization_);
  if (quantization_.method == Method::kFp8) {
    const bool has_blocks = cols_ % kBlock == 0 && quantization_.block_cols % kBlock == 0;
    dtype_ = has_blocks ? DType::kFp8 : DType::kF16;
    return;
  }
  const DType type = TypeOfGroups();
  dtype_ = groups_.empty() ? type : DType::kF32;
  if (groups_.empty() || type == DType::kF32) return;
  SortColumns();
  reordered_dtype_ = type;
}

Result<HfQuantizedMatrix> HfQuantizedMatrix::Make(const HfQuantization& quantization, const std::string& module,
                                                  const formats::SafetensorsFolder& weights) {
  HfQuantizedMatrix matrix;
  matrix.quantization_ = quantization;
  matrix.where_ = module;
  ADIT_RETURN_IF_ERROR(matrix.TakeParts(module, weights));
  ADIT_RETURN_IF_ERROR(matrix.TakeShape());
  ADIT_RETURN_IF_ERROR(matrix.CheckShapes());
  ADIT_RETURN_IF_ERROR(matrix.CheckScales());
  ADIT_RETURN_IF_ERROR(matrix.TakeOrder());
  if (quantization.method == Method::kFp8) ADIT_RETURN_IF_ERROR(matrix.CheckFp8Codes());
  matrix.ChooseType();
  return matrix;
}

int HfQuantizedMatrix::CodeAt(int64_t row, int64_t col) const {
  switch (quantization_.method) {
    case Method::kGptq:
      return BitsAt(*codes_, row, rows_, col, quantization_.bits);
    case Method::kAwq:
      return static_cast<int>(
          WordAt(*codes_, col * (rows_ / 8) + row / 8) >> (4 * kAwqNibble[static_cast<size_t>(row % 8)]) & 15);
    case Method::kPackedInt:
      return BitsAt(*codes_, row * codes_->shape[1], 1, col, quantization_.bits);
    case Method::kInt8:
      return static_cast<int>(static_cast<int8_t>(codes_->data[static_cast<size_t>(row * cols_ + col)]));
    case Method::kFp8:
      break;
  }
  return 0;
}

int HfQuantizedMatrix::ZeroAt(int64_t row, int64_t group) const {
  switch (quantization_.method) {
    case Method::kGptq: {
      const int stored = BitsAt(*zeros_, group * zeros_->shape[1], 1, row, quantization_.bits);
      return stored + (quantization_.zeros_less_one ? 1 : 0);
    }
    case Method::kAwq:
      return static_cast<int>(
          WordAt(*zeros_, group * (rows_ / 8) + row / 8) >> (4 * kAwqNibble[static_cast<size_t>(row % 8)]) & 15);
    case Method::kPackedInt:
      // Packed along the rows.
      if (zeros_ != nullptr) return BitsAt(*zeros_, group, zeros_->shape[1], row, quantization_.bits);
      return 1 << (quantization_.bits - 1);
    case Method::kInt8:
    case Method::kFp8:
      break;
  }
  return 0;
}

int64_t HfQuantizedMatrix::GroupOf(int64_t col) const {
  return groups_.empty() ? col / group_size_ : groups_[static_cast<size_t>(col)];
}

float HfQuantizedMatrix::ScaleAt(int64_t row, int64_t col, int64_t group) const {
  size_t index = 0;
  switch (quantization_.method) {
    case Method::kGptq:
    case Method::kAwq:
      index = static_cast<size_t>(group * rows_ + row);
      break;
    case Method::kPackedInt:
      index = static_cast<size_t>(row * scales_->shape[1] + group);
      break;
    case Method::kInt8:
    case Method::kFp8:
      if (quantization_.block_rows > 0) {
        index =
            static_cast<size_t>(row / quantization_.block_rows * scales_->shape[1] + col / quantization_.block_cols);
      } else if (scale_values_.size() > 1) {
        index = static_cast<size_t>(row);
      }
      break;
  }
  return scale_values_[index];
}

float HfQuantizedMatrix::ValueAt(int64_t row, int64_t col) const {
  const int64_t group = GroupOf(col);
  const float scale = ScaleAt(row, col, group);
  if (quantization_.method == Method::kFp8) {
    float value = 0.0f;
    codes_->type->decode(codes_->data.data() + static_cast<size_t>(row * cols_ + col), &value, 1);
    return scale * value;
  }
  return scale * static_cast<float>(CodeAt(row, col) - ZeroAt(row, group));
}

void HfQuantizedMatrix::ReadInt4(int64_t row, std::span<const int32_t> order, std::byte* out) const {
  const auto column = [order](int64_t k) { return order.empty() ? k : int64_t{order[static_cast<size_t>(k)]}; };
  for (int64_t begin = 0; begin < cols_; begin += kBlock) {
    const int64_t group = GroupOf(column(begin));
    BlockInt4 block{};
    block.d = FloatToHalf(ScaleAt(row, column(begin), group));
    block.zero = static_cast<uint8_t>(ZeroAt(row, group));
    for (int64_t j = 0; j < kBlock / 2; ++j) {
      block.qs[j] =
          static_cast<uint8_t>(CodeAt(row, column(begin + j)) | CodeAt(row, column(begin + j + kBlock / 2)) << 4);
    }
    std::memcpy(out, &block, sizeof(block));
    out += sizeof(block);
  }
}

void HfQuantizedMatrix::ReadInt8(int64_t row, std::span<const int32_t> order, std::byte* out) const {
  const auto column = [order](int64_t k) { return order.empty() ? k : int64_t{order[static_cast<size_t>(k)]}; };
  for (int64_t begin = 0; begin < cols_; begin += kBlock) {
    const int64_t group = GroupOf(column(begin));
    const int zero = quantization_.method == Method::kInt8 ? 0 : 128;
    BlockInt8 block{};
    block.d = ScaleAt(row, column(begin), group);
    for (int64_t j = 0; j < kBlock; ++j) block.qs[j] = static_cast<int8_t>(CodeAt(row, column(begin + j)) - zero);
    std::memcpy(out, &block, sizeof(block));
    out += sizeof(block);
  }
}

// E4M3 has no infinities, and one NaN of each sign; of E5M2 the codes from 0x7c on are neither.
Status HfQuantizedMatrix::CheckFp8Codes() const {
  const int least = quantization_.e5m2 ? 0x7c : 0x7f;
  const auto found = std::ranges::find_if(
      codes_->data, [least](std::byte code) { return std::to_integer<int>(code & std::byte{0x7f}) >= least; });
  if (found == codes_->data.end()) return Status();
  const int64_t at = found - codes_->data.begin();
  return Corrupt("tensor {} has NaN or infinity in row {}, column {}", Quoted(codes_->name), at / cols_, at % cols_);
}

void HfQuantizedMatrix::ReadFp8(int64_t row, std::byte* out) const {
  for (int64_t begin = 0; begin < cols_; begin += kBlock) {
    BlockFp8 block{};
    block.d = ScaleAt(row, begin, 0);
    std::memcpy(block.qs, codes_->data.data() + static_cast<size_t>(row * cols_ + begin), sizeof(block.qs));
    if (quantization_.e5m2) WidenE5M2(block);
    std::memcpy(out, &block, sizeof(block));
    out += sizeof(block);
  }
}

void HfQuantizedMatrix::ReadRows(std::span<const int64_t> rows, std::byte* out) const {
  const size_t row_bytes = RowBytes(dtype_, cols_);
  std::vector<float> floats;
  for (const int64_t row : rows) {
    if (dtype_ == DType::kInt4) {
      ReadInt4(row, {}, out);
    } else if (dtype_ == DType::kInt8) {
      ReadInt8(row, {}, out);
    } else if (dtype_ == DType::kFp8) {
      ReadFp8(row, out);
    } else {
      floats.resize(static_cast<size_t>(cols_));
      for (int64_t col = 0; col < cols_; ++col) floats[static_cast<size_t>(col)] = ValueAt(row, col);
      EncodeFor(dtype_)(floats.data(), out, cols_);
    }
    out += row_bytes;
  }
}

void HfQuantizedMatrix::ReadReordered(std::span<const int64_t> rows, std::byte* out) const {
  for (const int64_t row : rows) {
    if (reordered_dtype_ == DType::kInt4) {
      ReadInt4(row, column_order_, out);
    } else {
      ReadInt8(row, column_order_, out);
    }
    out += RowBytes(reordered_dtype_, cols_);
  }
}

}  // namespace adit::models
