#ifndef ADIT_FORMATS_RETYPED_MODEL_H_
#define ADIT_FORMATS_RETYPED_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/weight_source.h"
#include "tensor/dtype.h"
#include "tensor/encode_groups.h"

namespace adit::formats {

// Which types to read weights in. Tensors that are quantised already stay as they are. Matrices whose rows are no whole
// number of the type's blocks get a type of blocks of 32 with about as many bits, or stay too.
struct WeightTypes {
  DType matrices = DType::kF16;
  // Of the matrix that gives the logits, where it differs.
  std::optional<DType> output = std::nullopt;
  // As GGUF files have them: the embedding like the matrix that gives the logits, vectors and other tables F32. Else
  // these stay.
  bool whole_file = false;
};

// `wanted`, or, where rows of row_elements are no whole number of its blocks, what has about as many bits in blocks of
// 32; nothing where that does not fit either.
std::optional<DType> FittingType(DType wanted, int64_t row_elements);

// Tables of embeddings: rows of them are read and added, not multiplied by. That of the tokens may give the logits too.
bool IsEmbeddingTable(std::string_view name);
// Whether tokens are multiplied by it: a matrix, and neither a norm of each head nor a table.
bool IsWeightMatrix(const TensorInfo& tensor);

// The output matrix decides between near ties and is read once a token: where the others have fewer than 8 bits it gets
// 8.
WeightTypes TypesForQuantization(DType matrices);

// `model`, its matrices in other types. They are computed as they are read, so that no second copy is in memory. Where
// the checkpoint ties the output matrix to the embedding, which stays, there is an "output.weight" of its own.
// Unsupported for a type that this build cannot write.
Result<std::unique_ptr<GgufFile>> Retyped(std::unique_ptr<GgufFile> model, const WeightTypes& types);

// How one tensor is to be read.
struct TensorRetyping {
  DType dtype = DType::kF32;
  // What the error of each column counts, [row_elements], for types whose scales are searched for (SearchEncodeFor);
  // empty: as EncodeFor does it. It outlives the model.
  std::span<const float> importance = {};
  // For Int4 and Int8, which are made with them alone; it outlives the model. Rows are whole groups.
  const GroupScales* groups = nullptr;
};

// `model`, its tensors in these types, one for each, in order; quantised ones are widened first where the type differs.
// Computed as they are read. Unsupported for a type that this build cannot write, InvalidArgument where a row is no
// whole number of blocks: both by the tensor's name.
Result<std::unique_ptr<GgufFile>> Retyped(std::unique_ptr<GgufFile> model, std::span<const TensorRetyping> tensors);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_RETYPED_MODEL_H_
