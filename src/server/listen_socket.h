#ifndef ADIT_SERVER_LISTEN_SOCKET_H_
#define ADIT_SERVER_LISTEN_SOCKET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "adit/status.h"
#include "server/http_server.h"

namespace adit::server {

// Open sockets that listen, not blocking; closed in the end, and a path is taken away again.
class ListenSockets {
 public:
  // One for each address that the host name stands for, or one at a path. A path that a server which is gone has left
  // behind is taken over; one where another answers is an error.
  static Result<ListenSockets> Open(const ListenAddress& address);
  ~ListenSockets();
  ListenSockets(ListenSockets&& other) noexcept;
  ListenSockets& operator=(ListenSockets&&) = delete;

  const std::vector<int>& descriptors() const { return descriptors_; }
  uint16_t port() const { return port_; }
  void Close();

 private:
  ListenSockets() = default;
  static Status OpenPath(const std::string& path, ListenSockets& out);
  static Status OpenHost(const ListenAddress& address, ListenSockets& out);

  std::vector<int> descriptors_;
  uint16_t port_ = 0;
  std::string path_;
};

// The next client that waits there, not blocking; -1 with errno set when there is none or it cannot be had. Its address
// goes to `peer`.
int AcceptClient(int listen_descriptor, std::string& peer);

}  // namespace adit::server

#endif  // ADIT_SERVER_LISTEN_SOCKET_H_
