#ifndef ADIT_FORMATS_CONTENT_HASH_H_
#define ADIT_FORMATS_CONTENT_HASH_H_

#include <cstdint>

#include "formats/weight_source.h"

namespace adit::formats {

// A number that tells models apart without reading all of their weights: of the names, types and sizes of all tensors,
// and of what vectors hold, since a model that was trained further or changed in place differs in its norms.
uint64_t ContentHash(const WeightSource& model);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_CONTENT_HASH_H_
