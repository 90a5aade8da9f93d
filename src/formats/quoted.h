#ifndef ADIT_FORMATS_QUOTED_H_
#define ADIT_FORMATS_QUOTED_H_

#include <string>
#include <string_view>

namespace adit::formats {

// A name out of an untrusted file, fit for a message: in single quotes, every byte but printable ASCII as \xNN, and cut
// after 80 bytes. So a message stays one short line of plain text whatever the file holds.
std::string Quoted(std::string_view name);

// Whether all bytes are printable ASCII, which is what GGUF allows in keys.
bool IsPrintableAscii(std::string_view text);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_QUOTED_H_
