#include "hub/http_client.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"

namespace adit::hub {
namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr size_t kMaxErrorBytes = 16 << 10;
constexpr long kReadBytes = 256 << 10;  // at once, of a body
constexpr int kBetweenLooksMs = 100;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

// A request to one server and what has come of its answer.
class HttpTransfer {
 public:
  HttpTransfer(const Url& url, const HttpLimits& limits, const HttpSink& sink)
      : url_(url), limits_(limits), sink_(sink) {}

  Result<HttpAnswer> Run(const HttpWish& wish, bool with_token);

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    if (set_ == CURLE_OK) set_ = curl_easy_setopt(easy_.get(), option, value);
  }
  void AddHeader(const std::string& line);
  void SetUp(const HttpWish& wish, bool with_token);
  // Sends and receives until all is there, or something ends it.
  CURLcode Perform();
  Status Failed(CURLcode code) const;
  // Both give what libcurl shall take as read: less than `bytes` holds ends the transfer.
  size_t TakeHeader(std::string_view bytes);
  size_t TakeBody(std::string_view bytes);

  const Url& url_;
  const HttpLimits& limits_;
  const HttpSink& sink_;
  HttpAnswer answer_;
  size_t header_bytes_ = 0;
  bool has_enough_ = false;  // the rest of the answer is of no use
  Status ended_;             // why we have ended it
  double last_byte_s_ = 0.0;
  char message_[CURL_ERROR_SIZE] = {};  // libcurl's own of an error
  CURLcode set_ = CURLE_OK;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr, &curl_slist_free_all};
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_{nullptr, &curl_multi_cleanup};
  // Ended before multi_ is, which it is part of.
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_{nullptr, &curl_easy_cleanup};
};

void HttpTransfer::AddHeader(const std::string& line) {
  curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
  if (longer == nullptr) {
    set_ = CURLE_OUT_OF_MEMORY;
    return;
  }
  (void)headers_.release();
  headers_.reset(longer);
}

void HttpTransfer::SetUp(const HttpWish& wish, bool with_token) {
  Set(CURLOPT_URL, url_.ToString().c_str());
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_PATH_AS_IS, 1L);
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_USERAGENT, "adit");
  Set(CURLOPT_BUFFERSIZE, kReadBytes);
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::ceil(limits_.connect_timeout_s * 1e3)));
  Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!limits_.use_proxies) Set(CURLOPT_PROXY, "");
  // libcurl has no eye on them, unlike OpenSSL's own tools.
  if (const auto file = env::CertificateFile(); file) Set(CURLOPT_CAINFO, file->c_str());
  if (const auto folder = env::CertificateFolder(); folder) Set(CURLOPT_CAPATH, folder->c_str());

  AddHeader("Accept-Encoding: identity");
  AddHeader("Connection: close");
  AddHeader("Expect:");
  if (with_token) AddHeader("Authorization: Bearer " + wish.token);
  if (wish.range_end > 0) AddHeader(fmt::format("Range: bytes={}-{}", wish.range_begin, wish.range_end - 1));
  if (!wish.body.empty()) AddHeader("Content-Type: application/json");
  Set(CURLOPT_HTTPHEADER, headers_.get());
  if (!wish.body.empty() || wish.method == "POST") {
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(wish.body.size()));
    Set(CURLOPT_POSTFIELDS, wish.body.c_str());
  }
  if (wish.method != "GET" && wish.method != "POST") Set(CURLOPT_CUSTOMREQUEST, wish.method.c_str());

  using Callback = size_t (*)(char*, size_t, size_t, void*);
  const Callback on_header = [](char* bytes, size_t, size_t count, void* self) {
    return static_cast<HttpTransfer*>(self)->TakeHeader(std::string_view(bytes, count));
  };
  const Callback on_body = [](char* bytes, size_t, size_t count, void* self) {
    return static_cast<HttpTransfer*>(self)->TakeBody(std::string_view(bytes, count));
  };
  Set(CURLOPT_HEADERFUNCTION, on_header);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEFUNCTION, on_body);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_ERRORBUFFER, &message_[0]);
}

size_t HttpTransfer::TakeHeader(std::string_view bytes) {
  last_byte_s_ = SteadySeconds();
  header_bytes_ += bytes.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    ended_ = Io("{}: the header of the answer is longer than {} bytes", url_.Authority(), kMaxHeaderBytes);
    return 0;
  }
  if (bytes.starts_with("HTTP/")) {
    // The first line, also of the answer that follows one of status 100.
    answer_.headers.clear();
    long status = 0;
    (void)curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer_.status = static_cast<int>(status);
    return bytes.size();
  }
  const size_t colon = bytes.find(':');
  if (colon == std::string_view::npos) return bytes.size();
  std::string name(bytes.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string_view value = bytes.substr(colon + 1);
  const size_t begin = value.find_first_not_of(" \t");
  const size_t end = value.find_last_not_of(" \t\r\n");
  value = begin == std::string_view::npos || end == std::string_view::npos || end < begin
              ? std::string_view()
              : value.substr(begin, end + 1 - begin);
  answer_.headers.emplace_back(std::move(name), value);
  return bytes.size();
}

size_t HttpTransfer::TakeBody(std::string_view bytes) {
  last_byte_s_ = SteadySeconds();
  if (IsSuccess(answer_.status)) {
    ended_ = sink_(answer_, bytes);
    return ended_.ok() ? bytes.size() : 0;
  }
  // What a redirect says beside where to is of no use.
  if (!IsRedirect(answer_.status)) answer_.body += bytes.substr(0, kMaxErrorBytes - answer_.body.size());
  has_enough_ = IsRedirect(answer_.status) || answer_.body.size() >= kMaxErrorBytes;
  return has_enough_ ? 0 : bytes.size();
}

CURLcode HttpTransfer::Perform() {
  last_byte_s_ = SteadySeconds();
  for (int num_running = 1;;) {
    if (curl_multi_perform(multi_.get(), &num_running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (num_running == 0) break;
    if (curl_multi_poll(multi_.get(), nullptr, 0, kBetweenLooksMs, nullptr) != CURLM_OK) return CURLE_FAILED_INIT;
    if (limits_.cancel != nullptr && limits_.cancel->load(std::memory_order_relaxed)) {
      ended_ = Cancelled("stopped");
      return CURLE_ABORTED_BY_CALLBACK;
    }
    curl_off_t until_sent_us = 0;
    (void)curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &until_sent_us);
    // Until then the time to connect is what limits it.
    if (until_sent_us == 0) last_byte_s_ = SteadySeconds();
    if (SteadySeconds() - last_byte_s_ > limits_.silence_timeout_s) {
      ended_ = Io("{}: nothing came for more than {} seconds", url_.Authority(), limits_.silence_timeout_s);
      return CURLE_OPERATION_TIMEDOUT;
    }
  }
  int num_left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_.get(), &num_left);
  return message != nullptr && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
}

Status HttpTransfer::Failed(CURLcode code) const {
  long os_error = 0;
  (void)curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_error);
  const char* const why = message_[0] != '\0' ? &message_[0] : curl_easy_strerror(code);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return Io("{}: no such host: {}", url_.Authority(), why);
    case CURLE_COULDNT_CONNECT:
      return Io("{}: cannot connect: {}", url_.Authority(),
                os_error != 0 ? std::strerror(static_cast<int>(os_error)) : why);
    case CURLE_OPERATION_TIMEDOUT:
      return Io("{}: cannot connect: {}", url_.Authority(), why);
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return Io("{}: {}: {}", url_.Authority(), answer_.status == 0 ? "no answer" : "the answer was cut off", why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
      return Io("{}: TLS: {}", url_.Authority(), why);
    default:
      return Io("{}: {}", url_.Authority(), why);
  }
}

Result<HttpAnswer> HttpTransfer::Run(const HttpWish& wish, bool with_token) {
  multi_.reset(curl_multi_init());
  easy_.reset(curl_easy_init());
  if (multi_ == nullptr || easy_ == nullptr) return ResourceExhausted("http: no room for a request");
  SetUp(wish, with_token);
  if (set_ != CURLE_OK) return Internal("http: {}", curl_easy_strerror(set_));
  if (curl_multi_add_handle(multi_.get(), easy_.get()) != CURLM_OK) {
    return ResourceExhausted("http: no room for a request");
  }
  const CURLcode code = Perform();
  Status status = has_enough_ || (code == CURLE_OK && ended_.ok()) ? Status() : ended_.ok() ? Failed(code) : ended_;
  curl_multi_remove_handle(multi_.get(), easy_.get());
  if (!status.ok()) return status;
  return std::move(answer_);
}

Status StartLibrary() {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  return global == CURLE_OK ? Status() : ResourceExhausted("http: libcurl cannot be started");
}

}  // namespace

std::string_view HttpAnswer::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

Result<HttpAnswer> Exchange(const HttpWish& wish, const HttpLimits& limits, const HttpSink& sink) {
  ADIT_RETURN_IF_ERROR(StartLibrary());
  if (std::any_of(wish.token.begin(), wish.token.end(), [](unsigned char c) { return c < 0x20; })) {
    return InvalidArgument("a token or key for {} has no line ends", wish.url.Authority());
  }
  Url url = wish.url;
  for (int redirects = 0; redirects <= limits.max_redirects; ++redirects) {
    HttpTransfer transfer(url, limits, sink);
    ADIT_ASSIGN_OR_RETURN(HttpAnswer answer, transfer.Run(wish, !wish.token.empty() && url.SameServer(wish.url)));
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
