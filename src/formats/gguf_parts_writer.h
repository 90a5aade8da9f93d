#ifndef ADIT_FORMATS_GGUF_PARTS_WRITER_H_
#define ADIT_FORMATS_GGUF_PARTS_WRITER_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/gguf_writer.h"

namespace adit::formats {

// Writes one GGUF file, or a model in parts as llama.cpp splits it: NAME-00001-of-00003.gguf with all keys, the others
// with split.no and split.count alone, tensors shared out in order. No file appears before all are whole; a kill
// between the moves of finished files into their places leaves fewer parts than they say, which no reader opens.
// Movable; one thread at a time.
class GgufPartsWriter {
 public:
  // `path` ends with ".gguf". Where the tensors are more than max_part_bytes, which 0 means never, each part has at
  // most that, or a single tensor. InvalidArgument for a path that does not end so where there are several; else as
  // GgufWriter::Create.
  static Result<GgufPartsWriter> Create(const std::string& path,
                                        const std::map<std::string, GgufValue, std::less<>>& values,
                                        const std::vector<GgufTensorPlan>& tensors, size_t max_part_bytes);

  // As GgufWriter::Append; the bytes are of one tensor.
  Status Append(std::span<const std::byte> bytes);
  // Puts all files in their places. FailedPrecondition when bytes are missing.
  Status Finish();

 private:
  GgufPartsWriter() = default;

  std::vector<GgufWriter> parts_;
  std::vector<size_t> left_bytes_;  // of each part
  size_t current_ = 0;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_PARTS_WRITER_H_
