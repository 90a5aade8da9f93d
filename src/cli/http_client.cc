#include "cli/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace adit::cli {
namespace {

constexpr long kConnectMs = 10'000;
constexpr long kMaxIdleConnections = 8192;  // that stay open for requests to come

std::string FailureName(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return "";
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
      return "cannot connect";
    case CURLE_OPERATION_TIMEDOUT:
      return "timeout";
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return "cut off";
    default:
      return curl_easy_strerror(code);
  }
}

}  // namespace

struct HttpClient::Transfer {
  HttpClient* client = nullptr;
  int64_t id = 0;
  CURL* easy = nullptr;

  ~Transfer() { curl_easy_cleanup(easy); }

  static size_t Write(char* bytes, size_t, size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    transfer->client->told_ = true;
    (*transfer->client->on_bytes_)(transfer->id, status, std::string_view(bytes, count));
    return count;
  }
};

struct HttpClient::Library {
  CURLM* multi = nullptr;
  curl_slist* headers = nullptr;

  ~Library() {
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
  }
};

Result<std::unique_ptr<HttpClient>> HttpClient::Create(double timeout_s, const std::string& api_key) {
  if (api_key.find_first_of("\r\n") != std::string::npos) return InvalidArgument("an API key has no line ends");
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<HttpClient> client(new HttpClient(timeout_s));
  client->library_ = std::make_unique<Library>();
  Library& library = *client->library_;
  library.multi = global == CURLE_OK ? curl_multi_init() : nullptr;
  if (library.multi == nullptr) return ResourceExhausted("http: libcurl cannot be started");
  curl_multi_setopt(library.multi, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  const std::string authorization = "Authorization: Bearer " + api_key;
  for (const char* header : {"Content-Type: application/json", "Expect:", authorization.c_str()}) {
    if (header == authorization.c_str() && api_key.empty()) continue;
    library.headers = curl_slist_append(library.headers, header);
  }
  return client;
}

HttpClient::HttpClient(double timeout_s) : timeout_s_(timeout_s) {}

HttpClient::~HttpClient() {
  for (auto& [id, transfer] : active_) curl_multi_remove_handle(library_->multi, transfer->easy);
  active_.clear();
}

Status HttpClient::Start(int64_t id, const std::string& url, const std::string* body) {
  auto transfer = std::make_unique<Transfer>();
  transfer->client = this;
  transfer->id = id;
  transfer->easy = curl_easy_init();
  CURL* const easy = transfer->easy;
  if (easy == nullptr) return ResourceExhausted("http: no room for a request");
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, library_->headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "adit");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::ceil(timeout_s_ * 1e3)));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::Write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer.get());
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
  if (body != nullptr) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, body->c_str());
  }
  if (const CURLMcode code = curl_multi_add_handle(library_->multi, easy); code != CURLM_OK) {
    return Internal("http: {}", curl_multi_strerror(code));
  }
  active_[id] = std::move(transfer);
  return Status();
}

Status HttpClient::Run(double timeout_s, const OnBytes& on_bytes, const OnEnd& on_end) {
  on_bytes_ = &on_bytes;
  told_ = false;
  int num_running = 0;
  CURLMcode code = curl_multi_perform(library_->multi, &num_running);
  TakeEnds(on_end);
  if (code == CURLM_OK && !told_) {
    const double wait_ms = std::ceil(std::clamp(timeout_s, 0.0, 1.0) * 1e3);
    code = curl_multi_poll(library_->multi, nullptr, 0, static_cast<int>(wait_ms), nullptr);
    if (code == CURLM_OK) code = curl_multi_perform(library_->multi, &num_running);
    TakeEnds(on_end);
  }
  on_bytes_ = nullptr;
  return code == CURLM_OK ? Status() : Internal("http: {}", curl_multi_strerror(code));
}

void HttpClient::TakeEnds(const OnEnd& on_end) {
  int num_left = 0;
  while (const CURLMsg* message = curl_multi_info_read(library_->multi, &num_left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;
    Transfer* transfer = nullptr;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(library_->multi, easy);
    const int64_t id = transfer->id;
    active_.erase(id);
    told_ = true;
    on_end(id, {.status = status, .failure = FailureName(result)});
  }
}

}  // namespace adit::cli
