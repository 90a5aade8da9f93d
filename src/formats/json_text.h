#ifndef ADIT_FORMATS_JSON_TEXT_H_
#define ADIT_FORMATS_JSON_TEXT_H_

#include <string>

#include "formats/json.h"

namespace adit::formats {

// The text of a value: members in their order, numbers so that they are read back to the bit, infinities as Python
// writes them. `indented`: a member or element a line, two spaces for each level, and a line end at the end.
std::string JsonText(const Json& value, bool indented);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_JSON_TEXT_H_
