#ifndef ADIT_FORMATS_GGUF_H_
#define ADIT_FORMATS_GGUF_H_

#include <memory>
#include <string>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "formats/weight_source.h"

namespace adit::formats {

// A GGUF file, version 2 or 3, little-endian, memory-mapped read-only. Format: docs/formats/gguf.md.
// Open checks every count, size, offset and name before it is used, so that what it returns can be trusted: each
// tensor's data lies inside the file and holds exactly its shape.
class GgufFile : public WeightSource {
 public:
  // NotFound, InvalidArgument (a directory) or Io when the file cannot be read, Corrupt when it breaks the format,
  // Unsupported for another version, byte order or tensor type, ResourceExhausted for a header beyond the limits; each
  // names the file and the field. A part of a split model, NAME-00001-of-00003.gguf, stands for all: NotFound when one
  // is missing, Corrupt when they do not belong together.
  static Result<std::unique_ptr<GgufFile>> Open(const std::string& path);
  // The same over bytes in memory, which must outlive the object. For tests and fuzzing. Unsupported for a part of a
  // split model.
  static Result<std::unique_ptr<GgufFile>> Parse(std::span<const std::byte> bytes, const std::string& name);

  ~GgufFile() override = default;
  virtual const GgufMetadata& metadata() const = 0;
  // Of the format; 0 for a model that is only seen as a GGUF file.
  virtual uint32_t version() const = 0;
  // What it is, for people: "GGUF version 3".
  virtual std::string Format() const = 0;
  virtual size_t size_bytes() const = 0;
  // What is before the tensors has been read for now: its pages may leave memory. The metadata can be read all the
  // same.
  virtual void ReleaseHeader() const = 0;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_H_
