#ifndef ADIT_HUB_MODEL_REF_H_
#define ADIT_HUB_MODEL_REF_H_

#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::hub {

// What names a model of a hub: "org/name[:quant][@revision]".
struct ModelRef {
  std::string repository;  // "org/name"
  std::string quant;       // "Q4_K_M"; empty: whichever is usual
  std::string revision;    // a branch, tag or commit; empty: not said

  // The text that names it.
  std::string ToString() const;
};

// InvalidArgument, with what is wrong, for anything else.
Result<ModelRef> ParseModelRef(std::string_view text);

// Whether a file may have this path below a model's folder: relative, with no "..", "." or empty name in it, no name
// that begins with a dot, no control character, and of a sane length.
bool IsSafePath(std::string_view path);

// Whether a name is one that people may give a model: letters, digits and "._-", at most 96 of them.
bool IsPlainName(std::string_view name);

}  // namespace adit::hub

#endif  // ADIT_HUB_MODEL_REF_H_
