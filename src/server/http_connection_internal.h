#ifndef ADIT_SERVER_HTTP_CONNECTION_INTERNAL_H_
#define ADIT_SERVER_HTTP_CONNECTION_INTERNAL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "server/http_server.h"

namespace boost::asio {
class io_context;
}

namespace adit::server {

class Connection;

// What the connections of a server share. Outlives them.
struct ConnectionShared {
  const HttpOptions options;
  HttpHandler& handler;
  const std::unique_ptr<TlsContext> tls;  // null: none
  std::atomic<bool> draining = false;     // relaxed: each connection looks again after its answer

  // Relaxed: figures for people.
  std::atomic<int64_t> num_open = 0;
  std::atomic<int64_t> num_active = 0;
  std::atomic<int64_t> num_accepted = 0;
  std::atomic<int64_t> num_refused = 0;

  ConnectionShared(HttpOptions wanted, HttpHandler& with, std::unique_ptr<TlsContext> tls_context)
      : options(std::move(wanted)), handler(with), tls(std::move(tls_context)) {}
};

// The connections of one thread, which alone touches them.
struct ConnectionSet {
  std::unordered_set<Connection*> open;
  // Ends those that are between two requests.
  void EndIdle();
  // Ends all.
  void EndAll();
};

// Serves a client until it or the server ends: on the context's thread, the only one that runs it. Takes the
// descriptor over. Wakers that outlive the connection keep the context.
void ServeConnection(std::shared_ptr<boost::asio::io_context> context, ConnectionSet& set, ConnectionShared& shared,
                     int descriptor, std::string peer);

}  // namespace adit::server

#endif  // ADIT_SERVER_HTTP_CONNECTION_INTERNAL_H_
