#ifndef ADIT_HUB_HTTP_CLIENT_H_
#define ADIT_HUB_HTTP_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "hub/url.h"

namespace adit::hub {

struct HttpWish {
  std::string method = "GET";
  Url url;
  // Sent as "Authorization: Bearer" to the server of `url` and to no other that it redirects to. Empty: none.
  std::string token;
  std::string body;  // JSON; empty: none
  // Bytes [range_begin, range_end) of the body; range_end 0: all of it.
  int64_t range_begin = 0;
  int64_t range_end = 0;
};

// An answer, its redirects followed.
struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;  // of an answer that is no success: its beginning. Else empty: the sink has had it

  // Empty when there is none.
  std::string_view Header(std::string_view name) const;
};

// Takes the body of a success as it comes. What it returns, when no Ok, ends the exchange and is its result.
using HttpSink = std::function<Status(const HttpAnswer& head, std::string_view bytes)>;

struct HttpLimits {
  double connect_timeout_s = 20.0;
  double silence_timeout_s = 30.0;  // without a byte of an answer
  int max_redirects = 8;
  // Asks through the proxies that http_proxy, https_proxy, all_proxy and no_proxy name, as libcurl reads them.
  bool use_proxies = true;
  // Ends the exchange within a fraction of a second, as Cancelled. Null: nothing does.
  const std::atomic<bool>* cancel = nullptr;
};

// One exchange, on the calling thread. TLS servers must show a certificate that the system trusts, or SSL_CERT_FILE and
// SSL_CERT_DIR where they are set. Io, with the
// server's name and the reason, when nothing or not all comes; an answer of any status is none of its errors.
Result<HttpAnswer> Exchange(const HttpWish& wish, const HttpLimits& limits, const HttpSink& sink);

// The same with the whole body in the result, at most max_bytes; ResourceExhausted above that.
Result<HttpAnswer> ExchangeText(const HttpWish& wish, const HttpLimits& limits, size_t max_bytes);

}  // namespace adit::hub

#endif  // ADIT_HUB_HTTP_CLIENT_H_
