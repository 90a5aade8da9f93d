#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "server/http_connection_internal.h"

namespace adit::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::use_awaitable;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using Parser = http::request_parser<http::string_body>;
using Clock = std::chrono::steady_clock;

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// How often a client that has sent more than its request is looked at.
constexpr double kLookAgainS = 0.25;
constexpr double kLeastBodyBytesPerSecond = 16384;
// What a client under TLS gets to say good-bye.
constexpr double kPartS = 0.5;

// A client's socket, with TLS around it or bare.
class ClientStream {
 public:
  using executor_type = Socket::executor_type;

  ClientStream(Socket socket, TlsContext::Context tls) : socket_(std::move(socket)), context_(std::move(tls)) {
    if (context_ != nullptr) tls_.emplace(socket_, *context_);
  }

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  // Null: it is bare.
  asio::ssl::stream<Socket&>* tls() { return tls_ ? &*tls_ : nullptr; }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Token>(token));
    return socket_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Token>(token));
    return socket_.async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  Socket socket_;
  const TlsContext::Context context_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace

// One client. All of it runs on the context's only thread: a coroutine that reads requests and writes answers, the
// wakes of replies, and timers.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<asio::io_context> context, ConnectionSet& set, ConnectionShared& shared, Socket socket,
             std::string peer)
      : context_(std::move(context)),
        set_(set),
        shared_(shared),
        stream_(std::move(socket), shared.tls == nullptr ? nullptr : shared.tls->Get()),
        socket_(stream_.socket()),
        peer_(std::move(peer)),
        wake_(*context_),
        deadline_(*context_),
        look_(*context_) {
    set_.open.insert(this);
    shared_.num_open.fetch_add(1, std::memory_order_relaxed);
  }

  ~Connection() {
    set_.open.erase(this);
    shared_.num_open.fetch_sub(1, std::memory_order_relaxed);
  }

  asio::awaitable<void> Run(std::shared_ptr<Connection> self) {
    // Not awaited in the condition: gcc 12 then frees what was awaited once more.
    bool go_on = co_await Greet();
    while (go_on) go_on = co_await ServeOne();
    co_await Part();
    Close();
    (void)self;
  }

  bool idle() const { return idle_; }
  void Close() {
    error_code ignored;
    wake_.cancel();
    deadline_.cancel();
    look_.cancel();
    gone_ = true;
    socket_.close(ignored);
  }

 private:
  // The handshake of TLS. False when there is none to be had.
  asio::awaitable<bool> Greet() {
    if (stream_.tls() == nullptr) co_return true;
    error_code error;
    SetDeadline(shared_.options.header_timeout_s);
    co_await stream_.tls()->async_handshake(asio::ssl::stream_base::server, asio::redirect_error(use_awaitable, error));
    greeted_ = !error;
    co_return greeted_;
  }

  // Tells a client under TLS that nothing was cut off.
  asio::awaitable<void> Part() {
    if (stream_.tls() == nullptr || !greeted_ || gone_) co_return;
    error_code error;
    SetDeadline(kPartS);
    co_await stream_.tls()->async_shutdown(asio::redirect_error(use_awaitable, error));
  }

  // The next request and its answer. False when the connection is to end.
  asio::awaitable<bool> ServeOne() {
    if (shared_.draining.load(std::memory_order_relaxed)) co_return false;
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
    parser_->body_limit(boost::none);
    error_code error = co_await ReadHeader();
    if (error) {
      co_await TellOfError(error, /*in_body=*/false);
      co_return false;
    }
    HttpRequest request;
    if (!TakeHead(request)) {
      co_await Refuse(400, "the target of the request is no path");
      co_return false;
    }
    size_t max_body_bytes = 0;
    if (std::unique_ptr<Reply> refusal = shared_.handler.Admit(request, max_body_bytes); refusal != nullptr) {
      co_return co_await RefuseBody(*refusal, request.keep_alive);
    }
    if (parser_->content_length() && *parser_->content_length() > max_body_bytes) {
      co_await Refuse(413, TooLarge(max_body_bytes));
      co_return false;
    }
    parser_->body_limit(max_body_bytes);
    error = co_await ReadBody(request);
    if (error) {
      co_await TellOfError(error, /*in_body=*/true, max_body_bytes);
      co_return false;
    }
    request.body = std::move(parser_->get().body());
    const bool keep_alive = request.keep_alive;
    const bool knows_chunks = parser_->get().version() >= 11;
    parser_.reset();
    // Replies may take long, and the room that a large body took is for others.
    buffer_.shrink_to_fit();
    std::unique_ptr<Reply> reply = shared_.handler.Handle(std::move(request), Waker());
    co_return co_await Send(*reply, keep_alive, knows_chunks);
  }

  // Ends whatever waits on the socket when the time is over.
  void SetDeadline(double seconds) {
    timed_out_ = false;
    deadline_.expires_after(Seconds(seconds));
    deadline_.async_wait([this, self = weak_from_this()](error_code error) {
      const std::shared_ptr<Connection> alive = self.lock();
      // Late for an operation that has ended, and too early for the next one?
      if (error || alive == nullptr || deadline_.expiry() > Clock::now()) return;
      timed_out_ = true;
      error_code ignored;
      socket_.cancel(ignored);
    });
  }

  asio::awaitable<error_code> ReadHeader() {
    error_code error;
    // Until a request begins the client may take its time.
    if (buffer_.size() == 0) {
      idle_ = true;
      SetDeadline(shared_.options.idle_timeout_s);
      const auto bytes = buffer_.prepare(4096);
      const size_t count = co_await stream_.async_read_some(bytes, asio::redirect_error(use_awaitable, error));
      idle_ = false;
      buffer_.commit(count);
      if (error) co_return timed_out_ ? make_error_code(http::error::end_of_stream) : error;
    }
    SetDeadline(shared_.options.header_timeout_s);
    co_await http::async_read_header(stream_, buffer_, *parser_, asio::redirect_error(use_awaitable, error));
    co_return error;
  }

  bool TakeHead(HttpRequest& request) {
    const auto& message = parser_->get();
    request.method = std::string(message.method_string());
    head_only_ = request.method == "HEAD";
    request.keep_alive = parser_->keep_alive();
    request.peer = peer_;
    for (const auto& field : message) {
      std::string name(field.name_string());
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      request.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    const auto target = message.target();
    return SplitTarget({target.data(), target.size()}, request.path, request.query);
  }

  asio::awaitable<error_code> ReadBody(const HttpRequest& request) {
    error_code error;
    if (parser_->is_done()) co_return error;
    if (request.Header("expect") == "100-continue") {
      co_await Write("HTTP/1.1 100 Continue\r\n\r\n", error);
      if (error) co_return error;
    }
    const Clock::time_point start = Clock::now();
    while (!parser_->is_done()) {
      // Drop by drop a body could take for ever: what has come buys time for the rest.
      const double most_s =
          shared_.options.body_timeout_s + static_cast<double>(parser_->get().body().size()) / kLeastBodyBytesPerSecond;
      const double spent_s = std::chrono::duration<double>(Clock::now() - start).count();
      SetDeadline(std::clamp(most_s - spent_s, 0.0, shared_.options.body_timeout_s));
      co_await http::async_read_some(stream_, buffer_, *parser_, asio::redirect_error(use_awaitable, error));
      if (error) co_return error;
    }
    co_return error;
  }

  static std::string TooLarge(size_t max_body_bytes) {
    return fmt::format("the body is larger than {} bytes", max_body_bytes);
  }

  asio::awaitable<void> TellOfError(error_code error, bool in_body, size_t max_body_bytes = 0) {
    if (error == http::error::end_of_stream) co_return;
    if (error == asio::error::operation_aborted && timed_out_) {
      co_await Refuse(408, in_body ? "the body took too long to come" : "the header took too long to come");
    } else if (error == http::error::body_limit) {
      co_await Refuse(413, TooLarge(max_body_bytes));
    } else if (error == http::error::header_limit) {
      co_await Refuse(431, fmt::format("the header is larger than {} bytes", shared_.options.max_header_bytes));
    } else if (error.category() == make_error_code(http::error::bad_method).category() &&
               error != http::error::partial_message) {
      co_await Refuse(400, "no HTTP request: " + error.message());
    }
  }

  // Answers what cannot be served, and ends the connection.
  asio::awaitable<void> Refuse(int status, std::string message) {
    const std::unique_ptr<Reply> reply = shared_.handler.Refuse(status, message, peer_);
    (void)co_await Send(*reply, /*keep_alive=*/false, /*knows_chunks=*/true);
    co_await Linger();
  }

  // Answers a request whose body is not wanted. The connection goes on if there is none.
  asio::awaitable<bool> RefuseBody(Reply& reply, bool keep_alive) {
    const bool has_body = !parser_->is_done() && (parser_->chunked() || parser_->content_length().value_or(0) > 0);
    const bool go_on = co_await Send(reply, keep_alive && !has_body, /*knows_chunks=*/true);
    if (has_body) co_await Linger();
    co_return go_on;
  }

  // A client that is still sending would lose the answer if the connection ended at once: what it sends is thrown away
  // for a while.
  asio::awaitable<void> Linger() {
    error_code error;
    // Under TLS that would cut off what it still has to say.
    if (stream_.tls() == nullptr) socket_.shutdown(Socket::shutdown_send, error);
    if (error) co_return;
    SetDeadline(shared_.options.linger_timeout_s);
    buffer_.clear();
    while (!error && !timed_out_) {
      co_await stream_.async_read_some(buffer_.prepare(65536), asio::redirect_error(use_awaitable, error));
    }
  }

  // A wake may come from any thread, and after the connection has gone.
  std::function<void()> Waker() {
    return [context = context_, self = weak_from_this()] {
      asio::post(*context, [self] {
        const std::shared_ptr<Connection> alive = self.lock();
        if (alive == nullptr) return;
        alive->woken_ = true;
        alive->wake_.cancel();
      });
    };
  }

  // Sends a reply to its end. True when another request may follow.
  asio::awaitable<bool> Send(Reply& reply, bool keep_alive, bool knows_chunks) {
    shared_.num_active.fetch_add(1, std::memory_order_relaxed);
    replying_ = true;
    const bool go_on = co_await SendParts(reply, keep_alive, knows_chunks);
    replying_ = false;
    look_.cancel();
    shared_.num_active.fetch_sub(1, std::memory_order_relaxed);
    reply.Ended(gone_);
    co_return go_on && !gone_;
  }

  asio::awaitable<bool> SendParts(Reply& reply, bool keep_alive, bool knows_chunks) {
    bool headed = false;
    bool chunked = false;
    bool is_ping = false;
    while (!gone_) {
      woken_ = false;
      ReplyOutput out;
      reply.Advance(out, is_ping);
      keep_alive = keep_alive && !shared_.draining.load(std::memory_order_relaxed);
      std::string bytes;
      if (out.has_head) {
        chunked = !out.done && knows_chunks;
        keep_alive = keep_alive && (out.done || knows_chunks);
        bytes = FormatHead(out.head, out.done ? out.body.size() : SIZE_MAX, chunked, keep_alive);
        headed = true;
      }
      if (head_only_) out.body.clear();
      if (!out.body.empty()) bytes += chunked ? fmt::format("{:x}\r\n{}\r\n", out.body.size(), out.body) : out.body;
      if (out.done && chunked && !head_only_) bytes += "0\r\n\r\n";
      if (!bytes.empty()) {
        error_code error;
        co_await Write(std::move(bytes), error);
        if (error) gone_ = true;
      }
      if (out.done) break;
      is_ping = co_await WaitForNews(reply.ping_interval_s());
    }
    co_return headed&& keep_alive;
  }

  // Until the reply has been woken, the client goes (gone_), or there has been silence for so long: then true.
  asio::awaitable<bool> WaitForNews(double ping_interval_s) {
    if (woken_ || gone_) co_return false;
    Watch();
    wake_.expires_after(Seconds(ping_interval_s > 0 ? ping_interval_s : 86400));
    error_code error;
    co_await wake_.async_wait(asio::redirect_error(use_awaitable, error));
    co_return !woken_ && !gone_;
  }

  // Looks whether the client goes while a reply is under way.
  void Watch() {
    if (watching_) return;
    watching_ = true;
    socket_.async_wait(Socket::wait_read, [this, self = weak_from_this()](error_code error) {
      const std::shared_ptr<Connection> alive = self.lock();
      if (alive == nullptr) return;
      watching_ = false;
      if (!error && replying_) Look();
    });
  }

  // The client has sent more, or it goes.
  void Look() {
    pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
    if (::poll(&state, 1, 0) > 0) {
      gone_ = true;
      wake_.cancel();
      return;
    }
    // More stays where it is until this reply has ended; so readiness tells no longer, and time has to.
    watching_ = true;
    look_.expires_after(Seconds(kLookAgainS));
    look_.async_wait([this, self = weak_from_this()](error_code error) {
      const std::shared_ptr<Connection> alive = self.lock();
      if (alive == nullptr) return;
      watching_ = false;
      if (!replying_) return;
      // Ended with the reply before: the present one is watched anew.
      if (error) return Watch();
      Look();
    });
  }

  asio::awaitable<void> Write(std::string bytes, error_code& error) {
    size_t sent = 0;
    while (sent < bytes.size() && !error) {
      SetDeadline(shared_.options.write_timeout_s);
      sent += co_await stream_.async_write_some(asio::buffer(bytes.data() + sent, bytes.size() - sent),
                                                asio::redirect_error(use_awaitable, error));
    }
    deadline_.cancel();
  }

  const std::shared_ptr<asio::io_context> context_;
  ConnectionSet& set_;
  ConnectionShared& shared_;
  ClientStream stream_;
  Socket& socket_;  // of stream_
  const std::string peer_;
  boost::beast::flat_buffer buffer_;  // what has been read and not yet parsed
  std::optional<Parser> parser_;      // of the present request
  asio::steady_timer wake_;           // cancelled: there is news
  asio::steady_timer deadline_;
  asio::steady_timer look_;
  bool greeted_ = false;    // there was a handshake
  bool head_only_ = false;  // the answer goes without its body
  bool idle_ = false;
  bool timed_out_ = false;
  bool woken_ = false;
  bool gone_ = false;
  bool replying_ = false;
  bool watching_ = false;
};

void ConnectionSet::EndIdle() {
  for (Connection* connection : open) {
    if (connection->idle()) connection->Close();
  }
}

void ConnectionSet::EndAll() {
  for (Connection* connection : open) connection->Close();
}

void ServeConnection(std::shared_ptr<asio::io_context> context, ConnectionSet& set, ConnectionShared& shared,
                     int descriptor, std::string peer) {
  error_code error;
  Socket socket(*context);
  // Its family matters to nothing that is done here.
  socket.assign(asio::generic::stream_protocol(AF_UNSPEC, 0), descriptor, error);
  if (error) {
    ::close(descriptor);
    return;
  }
  asio::io_context& runs = *context;
  auto connection = std::make_shared<Connection>(std::move(context), set, shared, std::move(socket), std::move(peer));
  asio::co_spawn(runs, connection->Run(connection), [](const std::exception_ptr& failure) {
    // Memory alone can have failed; the connection has ended, and the others go on.
    (void)failure;
  });
}

}  // namespace adit::server
