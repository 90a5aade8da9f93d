#ifndef ADIT_SERVER_MULTIPART_H_
#define ADIT_SERVER_MULTIPART_H_

#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::server {

// A field of a form.
struct FormPart {
  std::string name;
  std::string filename;      // empty: it is no file
  std::string_view content;  // of the body
};

// Takes a body of type multipart/form-data (RFC 7578) apart: at most 32 parts, headers of at most 8 KiB each.
// `content_type`: the header's value, which names the boundary. InvalidArgument for what is no such body; Unsupported
// for another type. `body` outlives the parts.
Result<std::vector<FormPart>> ParseForm(std::string_view content_type, std::string_view body);

}  // namespace adit::server

#endif  // ADIT_SERVER_MULTIPART_H_
