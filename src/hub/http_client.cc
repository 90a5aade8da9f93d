#include "hub/http_client.h"

#include <fmt/core.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <optional>

#include "base/error.h"

namespace adit::hub {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr size_t kMaxErrorBytes = 16 << 10;
constexpr std::chrono::milliseconds kBetweenLooks{100};

std::chrono::nanoseconds Seconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// One connection and what is asked over it. The calls of Asio are asynchronous so that they have timeouts, and each is
// waited for.
class Connection {
 public:
  Connection(const Url& url, const HttpLimits& limits) : url_(url), limits_(limits) {}

  Status Open();
  Status Send(const HttpWish& wish, bool with_token);
  // The head of the answer; the body goes to `sink` if it is a success.
  Result<HttpAnswer> Receive(const HttpSink& sink);

 private:
  // Starts an operation by `start`, which is given what to call at its end, and waits for it.
  template <typename Start>
  Status Wait(const char* what, double timeout_s, Start start);
  Status Failed(const char* what, const error_code& error) const {
    if (error == beast::error::timeout) {
      return Io("{}: {}: nothing came for too long", url_.Authority(), what);
    }
    return Io("{}: {}: {}", url_.Authority(), what, error.message());
  }
  Status Greet();
  beast::tcp_stream& tcp_layer() { return tls_ ? beast::get_lowest_layer(*tls_) : *plain_; }
  Status ReceiveBody(http::response_parser<http::buffer_body>& parser, HttpAnswer& answer, const HttpSink& sink);
  // Calls `call` with the stream that bytes go through.
  template <typename Call>
  void WithStream(Call call) {
    if (tls_) {
      call(*tls_);
    } else {
      call(*plain_);
    }
  }

  const Url& url_;
  const HttpLimits& limits_;
  asio::io_context context_;
  std::optional<asio::ssl::context> tls_context_;
  std::optional<beast::tcp_stream> plain_;
  std::optional<beast::ssl_stream<beast::tcp_stream>> tls_;
  beast::flat_buffer buffer_{kMaxHeaderBytes};
};

template <typename Start>
Status Connection::Wait(const char* what, double timeout_s, Start start) {
  std::optional<error_code> result;
  if (plain_ || tls_) tcp_layer().expires_after(Seconds(timeout_s));
  start([&result](const error_code& error, auto&&...) { result = error; });
  context_.restart();
  bool cancelled = false;
  while (!result) {
    context_.run_for(kBetweenLooks);
    if (cancelled || limits_.cancel == nullptr || !limits_.cancel->load(std::memory_order_relaxed)) continue;
    cancelled = true;
    if (plain_ || tls_) tcp_layer().cancel();
  }
  if (cancelled) return Cancelled("stopped");
  if (*result) return Failed(what, *result);
  return Status();
}

Status Connection::Open() {
  tcp::resolver resolver(context_);
  tcp::resolver::results_type addresses;
  ADIT_RETURN_IF_ERROR(Wait("no such host", limits_.connect_timeout_s, [&](auto done) {
    resolver.async_resolve(url_.host, std::to_string(url_.port),
                           [&addresses, done](const error_code& error, tcp::resolver::results_type found) {
                             addresses = std::move(found);
                             done(error);
                           });
  }));
  if (url_.is_tls) {
    tls_context_.emplace(asio::ssl::context::tls_client);
    error_code error;
    tls_context_->set_default_verify_paths(error);
    if (error) return Failed("no certificates to trust", error);
    tls_.emplace(context_, *tls_context_);
  } else {
    plain_.emplace(context_);
  }
  ADIT_RETURN_IF_ERROR(Wait("cannot connect", limits_.connect_timeout_s,
                            [&](auto done) { tcp_layer().async_connect(addresses, done); }));
  return tls_ ? Greet() : Status();
}

Status Connection::Greet() {
  error_code error;
  tls_->set_verify_mode(asio::ssl::verify_peer, error);
  if (!error) tls_->set_verify_callback(asio::ssl::host_name_verification(url_.host), error);
  if (error) return Failed("TLS", error);
  // Addresses are no names of servers.
  error_code is_name;
  (void)asio::ip::make_address(url_.host, is_name);
  if (is_name && SSL_set_tlsext_host_name(tls_->native_handle(), url_.host.c_str()) != 1) {
    return Io("{}: TLS: the name cannot be sent", url_.Authority());
  }
  return Wait("TLS", limits_.connect_timeout_s,
              [&](auto done) { tls_->async_handshake(asio::ssl::stream_base::client, done); });
}

Status Connection::Send(const HttpWish& wish, bool with_token) {
  http::request<http::string_body> request;
  request.method_string(wish.method);
  request.target(url_.target);
  request.version(11);
  request.set(http::field::host, url_.Authority());
  request.set(http::field::user_agent, "adit");
  request.set(http::field::accept, "*/*");
  request.set(http::field::accept_encoding, "identity");
  request.set(http::field::connection, "close");
  if (with_token) request.set(http::field::authorization, "Bearer " + wish.token);
  if (wish.range_end > 0) {
    request.set(http::field::range, fmt::format("bytes={}-{}", wish.range_begin, wish.range_end - 1));
  }
  if (!wish.body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = wish.body;
  if (!wish.body.empty() || wish.method != "GET") request.prepare_payload();
  return Wait("cannot send", limits_.silence_timeout_s,
              [&](auto done) { WithStream([&](auto& stream) { http::async_write(stream, request, done); }); });
}

Result<HttpAnswer> Connection::Receive(const HttpSink& sink) {
  http::response_parser<http::buffer_body> parser;
  parser.header_limit(kMaxHeaderBytes);
  parser.body_limit(boost::none);
  ADIT_RETURN_IF_ERROR(Wait("no answer", limits_.silence_timeout_s, [&](auto done) {
    WithStream([&](auto& stream) { http::async_read_header(stream, buffer_, parser, done); });
  }));
  HttpAnswer answer{.status = static_cast<int>(parser.get().result_int())};
  for (const auto& field : parser.get().base()) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    answer.headers.emplace_back(std::move(name), field.value());
  }
  // What a redirect says beside where to is of no use.
  if (IsRedirect(answer.status)) return answer;
  ADIT_RETURN_IF_ERROR(ReceiveBody(parser, answer, sink));
  return answer;
}

Status Connection::ReceiveBody(http::response_parser<http::buffer_body>& parser, HttpAnswer& answer,
                               const HttpSink& sink) {
  std::vector<char> bytes(size_t{256} << 10);
  const bool is_success = answer.status >= 200 && answer.status < 300;
  while (!parser.is_done()) {
    parser.get().body().data = bytes.data();
    parser.get().body().size = bytes.size();
    parser.get().body().more = true;
    const Status status = Wait("the answer was cut off", limits_.silence_timeout_s, [&](auto done) {
      WithStream([&](auto& stream) {
        http::async_read_some(stream, buffer_, parser, [done](const error_code& error, size_t) {
          // A full buffer is no error.
          done(error == http::error::need_buffer ? error_code() : error);
        });
      });
    });
    const std::string_view news(bytes.data(), bytes.size() - parser.get().body().size);
    if (is_success && !news.empty()) {
      ADIT_RETURN_IF_ERROR(sink(answer, news));
    } else if (!is_success) {
      answer.body += news.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, answer.body.size()));
    }
    if (!status.ok()) return status;
    if (!is_success && answer.body.size() >= kMaxErrorBytes) return Status();
  }
  return Status();
}

}  // namespace

std::string_view HttpAnswer::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

Result<HttpAnswer> Exchange(const HttpWish& wish, const HttpLimits& limits, const HttpSink& sink) {
  Url url = wish.url;
  for (int redirects = 0; redirects <= limits.max_redirects; ++redirects) {
    Connection connection(url, limits);
    ADIT_RETURN_IF_ERROR(connection.Open());
    ADIT_RETURN_IF_ERROR(connection.Send(wish, !wish.token.empty() && url.SameServer(wish.url)));
    ADIT_ASSIGN_OR_RETURN(HttpAnswer answer, connection.Receive(sink));
    if (!IsRedirect(answer.status)) return answer;
    ADIT_ASSIGN_OR_RETURN(Url next, ParseLocation(url, answer.Header("location")));
    if (url.is_tls && !next.is_tls)
      return Io("{}: is redirected to {}, without TLS", url.Authority(), next.Authority());
    url = std::move(next);
  }
  return Io("{}: is redirected more than {} times", wish.url.Authority(), limits.max_redirects);
}

Result<HttpAnswer> ExchangeText(const HttpWish& wish, const HttpLimits& limits, size_t max_bytes) {
  std::string text;
  ADIT_ASSIGN_OR_RETURN(HttpAnswer answer, Exchange(wish, limits, [&](const HttpAnswer&, std::string_view bytes) {
                          if (bytes.size() > max_bytes - text.size()) {
                            return ResourceExhausted("{}: the answer is longer than {} bytes", wish.url.Authority(),
                                                     max_bytes);
                          }
                          text += bytes;
                          return Status();
                        }));
  if (!text.empty()) answer.body = std::move(text);
  return answer;
}

}  // namespace adit::hub
