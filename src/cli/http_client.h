#ifndef ADIT_CLI_HTTP_CLIENT_H_
#define ADIT_CLI_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "adit/status.h"

namespace adit::cli {

// What a request of HttpClient came to.
struct HttpEnd {
  int64_t status = 0;  // of HTTP; 0: there was no response
  // Why the transfer failed, in a few words: "cannot connect", "timeout", "cut off", or libcurl's own. Empty: it did
  // not, whatever the status.
  std::string failure;
};

// Many requests to one server at once, on the caller's thread, over connections that are kept. Asks the server itself,
// no proxy, and follows no redirect.
class HttpClient {
 public:
  // A request of number `id` has got some of its body.
  using OnBytes = std::function<void(int64_t id, int64_t status, std::string_view bytes)>;
  using OnEnd = std::function<void(int64_t id, const HttpEnd& end)>;

  // `timeout_s`: of a whole request. `api_key`: sent as the bearer's; empty: none.
  static Result<std::unique_ptr<HttpClient>> Create(double timeout_s, const std::string& api_key);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Begins a request: GET without a body. It goes out with the next Run.
  Status Start(int64_t id, const std::string& url, const std::string* body);
  // Sends and receives for at most timeout_s, and returns as soon as something has been told.
  Status Run(double timeout_s, const OnBytes& on_bytes, const OnEnd& on_end);
  size_t num_active() const { return active_.size(); }

 private:
  struct Transfer;
  struct Library;
  explicit HttpClient(double timeout_s);
  void TakeEnds(const OnEnd& on_end);

  const double timeout_s_;
  std::unique_ptr<Library> library_;
  std::unordered_map<int64_t, std::unique_ptr<Transfer>> active_;
  const OnBytes* on_bytes_ = nullptr;  // during Run
  bool told_ = false;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_HTTP_CLIENT_H_
