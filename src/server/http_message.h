#ifndef ADIT_SERVER_HTTP_MESSAGE_H_
#define ADIT_SERVER_HTTP_MESSAGE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adit::server {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;     // percent-decoded, without the query
  std::string query;    // behind the '?', as sent
  HttpHeaders headers;  // names in lower case
  std::string body;
  std::string peer;  // the client's address
  bool keep_alive = true;

  // The value of a header; empty when there is none.
  std::string_view Header(std::string_view name) const;
};

struct HttpHead {
  int status = 200;
  std::string content_type = "application/json";
  HttpHeaders headers;
};

// What there is to send of a response.
struct ReplyOutput {
  bool has_head = false;
  HttpHead head;     // set once, with or before the first bytes
  std::string body;  // bytes that have come since the last call
  bool done = false;

  void SetHead(HttpHead value) {
    head = std::move(value);
    has_head = true;
  }
};

// A response under way, driven by its connection's thread. A reply that is done at its first call goes out whole, with
// its length; others go out in chunks as they come.
class Reply {
 public:
  virtual ~Reply() = default;

  // Fills `out`, which holds nothing, with what there is now. Called at first when the request has come, then whenever
  // the waker it was made with has been called, and when nothing has come for a while (`is_ping`).
  virtual void Advance(ReplyOutput& out, bool is_ping) = 0;
  // After how many seconds of silence to call with is_ping; 0: never.
  virtual double ping_interval_s() const { return 0.0; }
  // The response has been sent, or the client has gone before it was. The last call.
  virtual void Ended(bool client_gone) { (void)client_gone; }
};

// A response that is there from the start.
class WholeReply : public Reply {
 public:
  WholeReply(HttpHead head, std::string body) : head_(std::move(head)), body_(std::move(body)) {}
  void Advance(ReplyOutput& out, bool is_ping) override;

 private:
  HttpHead head_;
  std::string body_;
};

// "OK", "Not Found".
std::string_view ReasonPhrase(int status);

// The path of a request target, percent-decoded, and the query; false when it is neither a path nor a URL, or its
// escapes are broken.
bool SplitTarget(std::string_view target, std::string& path, std::string& query);

// The value of a parameter of a query, as it stands there; empty: there is none.
std::string QueryParameter(std::string_view query, std::string_view name);

// The first line and the headers of a response, up to and with the empty line. `length`: of the body; SIZE_MAX: it goes
// out in chunks, or, to a client that does not know these, until the connection ends.
std::string FormatHead(const HttpHead& head, size_t length, bool chunked, bool keep_alive);

}  // namespace adit::server

#endif  // ADIT_SERVER_HTTP_MESSAGE_H_
