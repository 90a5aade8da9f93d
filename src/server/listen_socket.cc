#include "server/listen_socket.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace adit::server {
namespace {

constexpr int kBacklog = 1024;
constexpr int kSocketFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

Result<sockaddr_un> AddressOfPath(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return InvalidArgument("socket '{}': the path has {} bytes; it has at most {}", path, path.size(),
                           sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* AsSocketAddress(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Whether a server answers at the path.
bool Answers(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool answers = ::connect(probe, AsSocketAddress(address), sizeof(address)) == 0;
  ::close(probe);
  return answers;
}

uint16_t PortOf(int descriptor) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// A socket that listens at one address, or -1 with errno set.
int ListenAt(const addrinfo& address) {
  const int descriptor = ::socket(address.ai_family, address.ai_socktype | kSocketFlags, address.ai_protocol);
  if (descriptor < 0) return -1;
  const int on = 1;
  (void)::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ai_family == AF_INET6) (void)::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 && ::listen(descriptor, kBacklog) == 0) {
    return descriptor;
  }
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return -1;
}

}  // namespace

Status ListenSockets::OpenPath(const std::string& path, ListenSockets& out) {
  ADIT_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOfPath(path));
  struct stat info = {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return InvalidArgument("socket '{}': there is a file that is no socket", path);
    if (Answers(address)) return Io("socket '{}': another server listens there", path);
    (void)::unlink(path.c_str());
  }
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | kSocketFlags, 0);
  if (descriptor < 0) return Io("socket '{}': {}", path, std::strerror(errno));
  out.descriptors_.push_back(descriptor);
  if (::bind(descriptor, AsSocketAddress(address), sizeof(address)) != 0 || ::listen(descriptor, kBacklog) != 0) {
    return Io("socket '{}': {}", path, std::strerror(errno));
  }
  out.path_ = path;
  return Status();
}

Status ListenSockets::OpenHost(const ListenAddress& address, ListenSockets& out) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  const int error = ::getaddrinfo(host, std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) return InvalidArgument("host '{}': {}", address.host, ::gai_strerror(error));
  Status status = Io("host '{}': no address", address.host);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    // One free port will hardly be free for two addresses.
    if (address.port == 0 && !out.descriptors_.empty()) break;
    const int descriptor = ListenAt(*entry);
    if (descriptor >= 0) {
      out.descriptors_.push_back(descriptor);
      out.port_ = PortOf(descriptor);
    } else {
      status = Io("{}:{}: {}", address.host, address.port, std::strerror(errno));
    }
  }
  ::freeaddrinfo(found);
  return out.descriptors_.empty() ? status : Status();
}

Result<ListenSockets> ListenSockets::Open(const ListenAddress& address) {
  ListenSockets sockets;
  ADIT_RETURN_IF_ERROR(address.unix_path.empty() ? OpenHost(address, sockets) : OpenPath(address.unix_path, sockets));
  return sockets;
}

ListenSockets::ListenSockets(ListenSockets&& other) noexcept
    : descriptors_(std::exchange(other.descriptors_, {})), port_(other.port_), path_(std::exchange(other.path_, {})) {}

ListenSockets::~ListenSockets() { Close(); }

void ListenSockets::Close() {
  for (const int descriptor : descriptors_) ::close(descriptor);
  descriptors_.clear();
  if (!path_.empty()) (void)::unlink(path_.c_str());
  path_.clear();
}

int AcceptClient(int listen_descriptor, std::string& peer) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  const int descriptor =
      ::accept4(listen_descriptor, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return -1;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) {
    peer = "unix";
    return descriptor;
  }
  const int on = 1;
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  char host[NI_MAXHOST] = {};
  char service[NI_MAXSERV] = {};
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof(host), service,
                                  sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV);
  peer = error == 0 ? fmt::format("{}:{}", host, service) : "unknown";
  return descriptor;
}

}  // namespace adit::server
