#ifndef ADIT_FORMATS_RETYPED_MODEL_H_
#define ADIT_FORMATS_RETYPED_MODEL_H_

#include <memory>
#include <optional>
#include <string_view>

#include "adit/status.h"
#include "formats/gguf.h"

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

// The output matrix decides between near ties and is read once a token: where the others have fewer than 8 bits it gets
// 8.
WeightTypes TypesForQuantization(DType matrices);

// `model`, its matrices in other types. They are computed as they are read, so that no second copy is in memory. Where
// the checkpoint ties the output matrix to the embedding, which stays, there is an "output.weight" of its own.
// Unsupported for a type that this build cannot write.
Result<std::unique_ptr<GgufFile>> Retyped(std::unique_ptr<GgufFile> model, const WeightTypes& types);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_RETYPED_MODEL_H_
