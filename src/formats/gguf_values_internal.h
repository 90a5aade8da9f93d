#ifndef ADIT_FORMATS_GGUF_VALUES_INTERNAL_H_
#define ADIT_FORMATS_GGUF_VALUES_INTERNAL_H_

#include <cstdint>

#include "formats/gguf_cursor_internal.h"
#include "formats/gguf_metadata.h"

namespace adit::formats {

// Reads num_pairs key-value pairs. Every length is checked against what is left of the file before memory is taken for
// it.
Result<GgufMetadata> ReadGgufMetadata(GgufCursor& cursor, uint64_t num_pairs);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_VALUES_INTERNAL_H_
