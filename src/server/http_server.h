#ifndef ADIT_SERVER_HTTP_SERVER_H_
#define ADIT_SERVER_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adit/status.h"
#include "server/http_message.h"
#include "server/tls_context.h"

namespace adit::server {

// Where a server listens.
struct ListenAddress {
  std::string host = "127.0.0.1";  // a name or a number; unused with a path
  uint16_t port = 8000;            // 0: any that is free
  std::string unix_path;           // of a socket in the file system; empty: none
};

struct HttpOptions {
  ListenAddress address;
  TlsFiles tls;
  int num_threads = 2;
  size_t max_header_bytes = 32 << 10;
  size_t max_connections = 8192;
  double idle_timeout_s = 120;    // between requests
  double header_timeout_s = 15;   // from a request's first byte to the end of its header
  double body_timeout_s = 30;     // without a byte of a body
  double write_timeout_s = 60;    // without a byte taken by the client
  double linger_timeout_s = 2.0;  // for a refused body to be read and thrown away
};

// Who answers. Called on the server's threads, several at a time.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // A request's header has come. Null: its body may, as far as `max_body_bytes` says; else the answer.
  virtual std::unique_ptr<Reply> Admit(const HttpRequest& request, size_t& max_body_bytes) = 0;
  // All of it has. `wake` makes the connection ask the reply for more; any thread may call it, also after the reply has
  // gone.
  virtual std::unique_ptr<Reply> Handle(HttpRequest request, std::function<void()> wake) = 0;
  // The answer to what is no request, or one that took too long; the connection ends with it.
  virtual std::unique_ptr<Reply> Refuse(int status, const std::string& message, const std::string& peer) = 0;
};

struct HttpCounters {
  int64_t connections = 0;  // open now
  int64_t accepted = 0;
  int64_t refused = 0;  // beyond max_connections
  int64_t active = 0;   // requests being answered
};

// An HTTP/1.1 server: keep-alive, pipelining, chunked bodies, limits on sizes and times. A client that closes its
// connection, or the sending half of it, is taken to have gone: its reply ends.
class HttpServer {
 public:
  // Listens, and answers from now on. `handler` outlives the server. InvalidArgument for an address that makes no
  // sense, Io, with the system's reason, for one that cannot be had.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, HttpHandler& handler);
  // Stops at once.
  ~HttpServer();

  // The port, where it is not that of a path.
  uint16_t port() const;
  HttpCounters counters() const;
  // Reads the files for TLS again, for connections to come. They stay as they were when the files are wrong.
  Status ReloadTls();

  // Takes no more connections; those that are idle end, and the others with their present answer. Waits for that, at
  // most timeout_s. True when no connection is left.
  bool Drain(double timeout_s);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_HTTP_SERVER_H_
