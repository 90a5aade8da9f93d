#ifndef ADIT_HUB_URL_H_
#define ADIT_HUB_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::hub {

// An http or https address.
struct Url {
  bool is_tls = false;
  std::string host;  // without the brackets of IPv6
  uint16_t port = 0;
  std::string target = "/";  // path and query, escaped

  // "host:port", as the header Host has it: without a port that is the scheme's own.
  std::string Authority() const;
  std::string ToString() const;
  bool SameServer(const Url& other) const { return is_tls == other.is_tls && host == other.host && port == other.port; }
};

// InvalidArgument for what is no http or https address, or holds a user name.
Result<Url> ParseUrl(std::string_view text);
// Where a header Location of an answer from `from` leads to: an address, or a path on the same server.
Result<Url> ParseLocation(const Url& from, std::string_view location);
// A path with what a URL does not hold as it is escaped; slashes stay.
std::string EscapePath(std::string_view path);

}  // namespace adit::hub

#endif  // ADIT_HUB_URL_H_
