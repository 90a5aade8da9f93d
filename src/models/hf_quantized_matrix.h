#ifndef ADIT_MODELS_HF_QUANTIZED_MATRIX_H_
#define ADIT_MODELS_HF_QUANTIZED_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/safetensors.h"
#include "models/hf_quantization.h"
#include "tensor/dtype.h"

namespace adit::models {

// A matrix of a quantised Hugging Face checkpoint, which lies there as several tensors, seen as rows of one of our
// types: Int4, Int8 and Fp8 where each 32 columns of a row have one scale that fits, exact to the bit; F16 for other
// FP8 codes times their scales; F32 where the groups of columns are in another order (act-order), which then can be
// read in the order of groups too. Borrows the mapped files.
class HfQuantizedMatrix {
 public:
  // The matrix of `module` ("model.layers.0.mlp.down_proj"). Corrupt for a part that is missing, of another shape or
  // type than the rest asks for, or with scales that are no numbers; Unsupported for zero points and settings that this
  // build does not read: all by name.
  static Result<HfQuantizedMatrix> Make(const HfQuantization& quantization, const std::string& module,
                                        const formats::SafetensorsFolder& weights);

  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }  // outputs
  int64_t cols() const { return cols_; }
  // What the checkpoint calls it, for people: "GPTQ 4 bits".
  std::string_view stored_type() const { return stored_type_; }

  // Writes the rows of these numbers to `out`, one after another.
  void ReadRows(std::span<const int64_t> rows, std::byte* out) const;

  // Where the groups of columns are in another order, and with columns sorted by their groups each 32 have one scale:
  // the column that each of them then is, and the type that such rows have. Else empty.
  std::span<const int32_t> column_order() const { return column_order_; }
  DType reordered_dtype() const { return reordered_dtype_; }
  // As ReadRows, with the columns in that order, in that type.
  void ReadReordered(std::span<const int64_t> rows, std::byte* out) const;

  // Whether `name` is the tensor that a quantised module is known by, whose module is then `module`.
  static bool IsMainTensor(const HfQuantization& quantization, const formats::SafetensorsTensor& tensor,
                           const formats::SafetensorsFolder& weights, std::string& module);
  // Whether `name` is another part of a quantised module.
  static bool IsPart(std::string_view name);

 private:
  using Tensor = formats::SafetensorsTensor;

  HfQuantizedMatrix() = default;
  Status TakeParts(const std::string& module, const formats::SafetensorsFolder& weights);
  Status TakeShape();
  Status CheckShapes() const;
  Status CheckScales();
  Status TakeOrder();
  void ChooseType();
  DType TypeOfGroups() const;
  void SortColumns();

  int CodeAt(int64_t row, int64_t col) const;
  int ZeroAt(int64_t row, int64_t group) const;
  float ScaleAt(int64_t row, int64_t col, int64_t group) const;
  float ValueAt(int64_t row, int64_t col) const;
  int64_t GroupOf(int64_t col) const;
  // `order`, of columns, may be empty: as they are.
  void ReadInt4(int64_t row, std::span<const int32_t> order, std::byte* out) const;
  void ReadInt8(int64_t row, std::span<const int32_t> order, std::byte* out) const;
  void ReadFp8(int64_t row, std::byte* out) const;
  Status CheckFp8Codes() const;

  HfQuantization quantization_;
  std::string where_;              // for messages
  const Tensor* codes_ = nullptr;  // qweight, weight_packed or weight
  const Tensor* scales_ = nullptr;
  const Tensor* zeros_ = nullptr;    // GPTQ, AWQ; or weight_zero_point
  const Tensor* order_ = nullptr;    // g_idx
  const Tensor* shape_ = nullptr;    // weight_shape
  std::vector<int32_t> groups_;      // of each column, where they are in another order; else empty
  std::vector<float> scale_values_;  // as the tensor has them
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t group_size_ = 0;  // columns
  DType dtype_ = DType::kF32;
  std::vector<int32_t> column_order_;
  DType reordered_dtype_ = DType::kF32;
  std::string_view stored_type_;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_QUANTIZED_MATRIX_H_
