#include "server/http_server.h"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "server/http_connection_internal.h"
#include "server/listen_socket.h"

namespace adit::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How long to wait when the process has no descriptor left for a client.
constexpr std::chrono::milliseconds kOutOfDescriptors{100};
constexpr std::chrono::milliseconds kDrainLook{20};

// A thread with its own connections.
struct IoThread {
  ConnectionSet connections;  // outlives them
  std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work{context->get_executor()};
  std::thread thread;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, HttpHandler& handler, std::unique_ptr<TlsContext> tls, ListenSockets sockets)
      : shared_(options, handler, std::move(tls)), sockets_(std::move(sockets)), port_(sockets_.port()) {}

  ~Impl() {
    for (const auto& io : threads_) {
      asio::post(*io->context, [&io = *io] {
        io.connections.EndAll();
        io.work.reset();
      });
    }
    // What is left to do is to let the coroutines see that their sockets are closed.
    StopListening();
    for (const auto& io : threads_) {
      if (io->thread.joinable()) io->thread.join();
    }
  }

  Status Start() {
    try {
      for (int i = 0; i < shared_.options.num_threads; ++i) {
        IoThread& io = *threads_.emplace_back(std::make_unique<IoThread>());
        io.thread = std::thread([&io] {
          // What the system's tools call it: so its share of the processor can be told.
          (void)::pthread_setname_np(::pthread_self(), "adit-http");
          io.context->run();
        });
      }
    } catch (const std::system_error& error) {
      return ResourceExhausted("http: no thread to be had: {}", error.what());
    }
    for (const int descriptor : sockets_.descriptors()) {
      listeners_.push_back(std::make_unique<Listener>(*threads_.front()->context, ::dup(descriptor)));
    }
    asio::post(*threads_.front()->context, [this] {
      for (const auto& listener : listeners_) Listen(*listener);
    });
    return Status();
  }

  uint16_t port() const { return port_; }
  HttpCounters counters() const {
    return {.connections = shared_.num_open.load(std::memory_order_relaxed),
            .accepted = shared_.num_accepted.load(std::memory_order_relaxed),
            .refused = shared_.num_refused.load(std::memory_order_relaxed),
            .active = shared_.num_active.load(std::memory_order_relaxed)};
  }

  Status ReloadTls() { return shared_.tls == nullptr ? Status() : shared_.tls->Reload(); }

  bool Drain(double timeout_s) {
    shared_.draining.store(true, std::memory_order_relaxed);
    StopListening();
    const double end_s = SteadySeconds() + timeout_s;
    while (true) {
      // Again and again: a connection may have been about to wait for its next request.
      for (const auto& io : threads_) asio::post(*io->context, [&io = *io] { io.connections.EndIdle(); });
      if (counters().connections == 0) return true;
      if (SteadySeconds() >= end_s) return false;
      std::this_thread::sleep_for(kDrainLook);
    }
  }

 private:
  // On the first thread.
  struct Listener {
    Listener(asio::io_context& context, int wanted) : descriptor(context, wanted), pause(context) {}
    asio::posix::stream_descriptor descriptor;
    asio::steady_timer pause;
  };

  void StopListening() {
    sockets_.Close();
    if (threads_.empty()) return;
    asio::post(*threads_.front()->context, [this] {
      for (const auto& listener : listeners_) {
        error_code ignored;
        listener->descriptor.close(ignored);
        listener->pause.cancel();
      }
    });
  }

  void Listen(Listener& listener) {
    listener.descriptor.async_wait(asio::posix::descriptor_base::wait_read, [this, &listener](error_code error) {
      if (error) return;
      std::string peer;
      int client = 0;
      while ((client = AcceptClient(listener.descriptor.native_handle(), peer)) >= 0) Take(client, peer);
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return Pause(listener);
      Listen(listener);
    });
  }

  void Pause(Listener& listener) {
    listener.pause.expires_after(kOutOfDescriptors);
    listener.pause.async_wait([this, &listener](error_code error) {
      if (!error) Listen(listener);
    });
  }

  void Take(int client, const std::string& peer) {
    shared_.num_accepted.fetch_add(1, std::memory_order_relaxed);
    if (counters().connections >= static_cast<int64_t>(shared_.options.max_connections)) {
      shared_.num_refused.fetch_add(1, std::memory_order_relaxed);
      ::close(client);
      return;
    }
    IoThread& io = *threads_[next_thread_++ % threads_.size()];
    asio::post(*io.context,
               [this, &io, client, peer] { ServeConnection(io.context, io.connections, shared_, client, peer); });
  }

  ConnectionShared shared_;
  ListenSockets sockets_;
  const uint16_t port_;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  size_t next_thread_ = 0;  // the first thread's
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options, HttpHandler& handler) {
  std::unique_ptr<TlsContext> tls;
  if (!options.tls.certificate.empty()) {
    ADIT_ASSIGN_OR_RETURN(tls, TlsContext::Create(options.tls));
  }
  ADIT_ASSIGN_OR_RETURN(ListenSockets sockets, ListenSockets::Open(options.address));
  auto impl = std::make_unique<Impl>(options, handler, std::move(tls), std::move(sockets));
  ADIT_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const { return impl_->port(); }
HttpCounters HttpServer::counters() const { return impl_->counters(); }
Status HttpServer::ReloadTls() { return impl_->ReloadTls(); }
bool HttpServer::Drain(double timeout_s) { return impl_->Drain(timeout_s); }

}  // namespace adit::server
