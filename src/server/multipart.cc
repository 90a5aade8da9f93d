#include "server/multipart.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "server/ascii.h"

namespace adit::server {
namespace {

constexpr size_t kMaxParts = 32;
constexpr size_t kMaxPartHeaderBytes = 8 << 10;
constexpr size_t kMaxBoundaryBytes = 70;

// The value of a parameter of a header: `x` of `form-data; name="x"`.
std::optional<std::string> ParameterOf(std::string_view header, std::string_view wanted) {
  size_t at = header.find(';');
  while (at < header.size()) {
    header.remove_prefix(at + 1);
    const size_t equals = header.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name = LowerCase(Trim(header.substr(0, equals)));
    header = Trim(header.substr(equals + 1));
    std::string value;
    if (header.starts_with('"')) {
      size_t i = 1;
      for (; i < header.size() && header[i] != '"'; ++i) {
        // Browsers escape just the quotes; others the backslash too.
        if (header[i] == '\\' && i + 1 < header.size() && (header[i + 1] == '"' || header[i + 1] == '\\')) ++i;
        value += header[i];
      }
      at = std::min(header.find(';', std::min(i, header.size())), header.size());
    } else {
      at = std::min(header.find(';'), header.size());
      value = Trim(header.substr(0, at));
    }
    if (name == wanted) return value;
  }
  return std::nullopt;
}

// What is wrong with a part's headers, or its name and that of its file.
Result<FormPart> ReadHeaders(std::string_view headers) {
  while (!headers.empty()) {
    const size_t end = headers.find("\r\n");
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(end == std::string_view::npos ? headers.size() : end + 2);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || LowerCase(Trim(line.substr(0, colon))) != "content-disposition") continue;
    const std::string_view value = line.substr(colon + 1);
    std::optional<std::string> name = ParameterOf(value, "name");
    if (LowerCase(Trim(value.substr(0, value.find(';')))) != "form-data" || !name) break;
    return FormPart{.name = *std::move(name), .filename = ParameterOf(value, "filename").value_or(""), .content = {}};
  }
  return InvalidArgument("form: a part has no 'Content-Disposition: form-data' with a name");
}

Result<std::string> BoundaryOf(std::string_view content_type) {
  if (LowerCase(Trim(content_type.substr(0, content_type.find(';')))) != "multipart/form-data") {
    return Unsupported("the content type is '{}'; multipart/form-data is wanted", content_type.substr(0, 100));
  }
  std::optional<std::string> boundary = ParameterOf(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kMaxBoundaryBytes) {
    return InvalidArgument("form: the content type names no boundary of 1..{} bytes", kMaxBoundaryBytes);
  }
  return *std::move(boundary);
}

}  // namespace

Result<std::vector<FormPart>> ParseForm(std::string_view content_type, std::string_view body) {
  ADIT_ASSIGN_OR_RETURN(const std::string boundary, BoundaryOf(content_type));
  const std::string first = "--" + boundary;
  const std::string next = "\r\n" + first;
  std::vector<FormPart> parts;
  // What stands before the first is none of the form.
  size_t at = body.starts_with(first) ? first.size() : body.find(next);
  if (at == std::string_view::npos) return InvalidArgument("form: its boundary is not there");
  if (!body.starts_with(first)) at += next.size();
  body.remove_prefix(at);
  while (!body.starts_with("--")) {
    const size_t line = body.find("\r\n");
    if (line == std::string_view::npos || !Trim(body.substr(0, line)).empty()) break;
    if (parts.size() == kMaxParts) return InvalidArgument("form: more than {} parts", kMaxParts);
    // A part without headers has an empty line at once.
    const size_t headers = body.substr(line).find("\r\n\r\n");
    if (headers == std::string_view::npos || headers > kMaxPartHeaderBytes) {
      return InvalidArgument("form: the headers of a part have no end within {} bytes", kMaxPartHeaderBytes);
    }
    const std::string_view text = body.substr(line + 2, headers > 2 ? headers - 2 : 0);
    ADIT_ASSIGN_OR_RETURN(FormPart part, ReadHeaders(text));
    body.remove_prefix(line + headers + 4);
    const size_t end = body.find(next);
    if (end == std::string_view::npos)
      return InvalidArgument("form: the part '{}' has no end", part.name.substr(0, 60));
    part.content = body.substr(0, end);
    parts.push_back(std::move(part));
    body.remove_prefix(end + next.size());
  }
  if (!body.starts_with("--")) return InvalidArgument("form: it has no end");
  return parts;
}

}  // namespace adit::server
