#ifndef ADIT_FORMATS_GGUF_SPLIT_INTERNAL_H_
#define ADIT_FORMATS_GGUF_SPLIT_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "adit/status.h"
#include "formats/gguf.h"
#include "formats/mapped_file.h"

namespace adit::formats {

// One file by itself, whether or not it is a part of a split model. `bytes` are those of `mapped`, or outlive the
// result.
Result<std::unique_ptr<GgufFile>> ParseGgufPart(std::optional<MappedFile> mapped, std::span<const std::byte> bytes,
                                                const std::string& path);
Result<std::unique_ptr<GgufFile>> OpenGgufPart(const std::string& path);

// The model that the file at `path`, one of `count` (2 or more) by its own keys, is a part of.
Result<std::unique_ptr<GgufFile>> OpenSplitGguf(const std::string& path, int64_t count);

// What the name of part `part`, counted from 1, of `count` ends with.
std::string GgufPartEnding(int64_t part, int64_t count);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_SPLIT_INTERNAL_H_
