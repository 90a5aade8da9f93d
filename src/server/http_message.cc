#include "server/http_message.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "server/ascii.h"

namespace adit::server {
namespace {}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

void WholeReply::Advance(ReplyOutput& out, bool) {
  out.SetHead(std::move(head_));
  out.body = std::move(body_);
  out.done = true;
}

std::string_view ReasonPhrase(int status) {
  struct Phrase {
    int status;
    std::string_view text;
  };
  constexpr Phrase kPhrases[] = {{200, "OK"},
                                 {204, "No Content"},
                                 {308, "Permanent Redirect"},
                                 {400, "Bad Request"},
                                 {401, "Unauthorized"},
                                 {403, "Forbidden"},
                                 {404, "Not Found"},
                                 {405, "Method Not Allowed"},
                                 {408, "Request Timeout"},
                                 {409, "Conflict"},
                                 {413, "Content Too Large"},
                                 {414, "URI Too Long"},
                                 {415, "Unsupported Media Type"},
                                 {417, "Expectation Failed"},
                                 {429, "Too Many Requests"},
                                 {431, "Request Header Fields Too Large"},
                                 {500, "Internal Server Error"},
                                 {501, "Not Implemented"},
                                 {503, "Service Unavailable"},
                                 {505, "HTTP Version Not Supported"},
                                 {507, "Insufficient Storage"}};
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) return phrase.text;
  }
  return "Status";
}

bool SplitTarget(std::string_view target, std::string& path, std::string& query) {
  // A proxy's form: http://host/path
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (!target.starts_with('/')) return false;
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  query = mark == std::string_view::npos ? "" : std::string(target.substr(mark + 1));
  const std::string_view raw = target.substr(0, mark);
  path.clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      path += raw[i];
      continue;
    }
    const int high = i + 2 < raw.size() ? HexDigit(raw[i + 1]) : -1;
    const int low = i + 2 < raw.size() ? HexDigit(raw[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

std::string QueryParameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view word = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), word.size() + 1));
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
      return std::string(word.substr(name.size() + 1));
    }
  }
  return "";
}

std::string FormatHead(const HttpHead& head, size_t length, bool chunked, bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", head.status, ReasonPhrase(head.status));
  if (!head.content_type.empty()) text += fmt::format("Content-Type: {}\r\n", head.content_type);
  for (const auto& [name, value] : head.headers) text += fmt::format("{}: {}\r\n", name, value);
  if (length != SIZE_MAX) {
    text += fmt::format("Content-Length: {}\r\n", length);
  } else if (chunked) {
    text += "Transfer-Encoding: chunked\r\n";
  }
  text += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return text;
}

}  // namespace adit::server
