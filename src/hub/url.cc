#include "hub/url.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace adit::hub {
namespace {

constexpr size_t kMaxUrlBytes = 16 << 10;
constexpr size_t kMaxHostBytes = 253;
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Bytes that a request line may hold.
bool IsTarget(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

bool IsHost(std::string_view host, bool is_v6) {
  return !host.empty() && host.size() <= kMaxHostBytes && std::all_of(host.begin(), host.end(), [&](char c) {
    return IsAlphanumeric(c) || c == '.' || c == '-' || c == '_' || (is_v6 && c == ':');
  });
}

Status NotAUrl(std::string_view text, const char* why) {
  return InvalidArgument("'{}' is no address of a server: {}", text.substr(0, 200), why);
}

}  // namespace

std::string Url::Authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (is_tls ? 443 : 80) ? name : fmt::format("{}:{}", name, port);
}

std::string Url::ToString() const { return fmt::format("{}{}{}", is_tls ? kHttps : kHttp, Authority(), target); }

Result<Url> ParseUrl(std::string_view text) {
  const std::string_view whole = text;
  if (text.size() > kMaxUrlBytes) return NotAUrl(whole, "it is too long");
  if (!text.starts_with(kHttp) && !text.starts_with(kHttps)) {
    return NotAUrl(whole, "it begins with neither http:// nor https://");
  }
  Url url{.is_tls = text.starts_with(kHttps)};
  text.remove_prefix(url.is_tls ? kHttps.size() : kHttp.size());
  std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  std::string_view target = text.substr(authority.size());
  target = target.substr(0, target.find('#'));
  if (!IsTarget(target)) return NotAUrl(whole, "it holds what must be escaped");
  if (authority.find('@') != std::string_view::npos) return NotAUrl(whole, "it holds a user name");
  const bool is_v6 = authority.starts_with('[');
  const size_t host_end = is_v6 ? authority.find(']') : authority.find(':');
  if (is_v6 && host_end == std::string_view::npos) return NotAUrl(whole, "a ']' is missing");
  url.host =
      authority.substr(is_v6 ? 1 : 0, host_end == std::string_view::npos ? host_end : host_end - (is_v6 ? 1 : 0));
  if (!IsHost(url.host, is_v6)) return NotAUrl(whole, "its host is no name");
  authority.remove_prefix(std::min(authority.size(), host_end + (is_v6 ? 1 : 0)));
  url.port = url.is_tls ? 443 : 80;
  if (!authority.empty()) {
    const char* const end = authority.data() + authority.size();
    const auto [rest, error] = std::from_chars(authority.data() + 1, end, url.port);
    if (authority[0] != ':' || error != std::errc() || rest != end || url.port == 0) {
      return NotAUrl(whole, "its port is no number of 1..65535");
    }
  }
  url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  return url;
}

Result<Url> ParseLocation(const Url& from, std::string_view location) {
  if (location.starts_with(kHttp) || location.starts_with(kHttps)) return ParseUrl(location);
  if (location.starts_with("//")) return ParseUrl((from.is_tls ? "https:" : "http:") + std::string(location));
  Url url = from;
  if (location.starts_with('/')) {
    url.target = location;
  } else {
    const std::string path = from.target.substr(0, from.target.find('?'));
    url.target = path.substr(0, path.rfind('/') + 1) + std::string(location);
  }
  url.target = url.target.substr(0, url.target.find('#'));
  if (url.target.size() > kMaxUrlBytes || !IsTarget(url.target)) return NotAUrl(location, "it cannot be asked for");
  return url;
}

std::string EscapePath(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (IsAlphanumeric(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace adit::hub
