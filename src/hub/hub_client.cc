#include "hub/hub_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "formats/json.h"

namespace adit::hub {
namespace {

using formats::Json;

constexpr size_t kMaxAnswerBytes = size_t{16} << 20;
constexpr size_t kMaxFiles = 20'000;
constexpr int kMaxPages = 100;

bool IsHex(std::string_view text, size_t length) {
  return text.size() == length &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string TextOf(const Json* json) {
  const std::string* text = json == nullptr ? nullptr : json->AsString();
  return text == nullptr ? std::string() : *text;
}

// The reason that an error's body gives, on one line; empty: none.
std::string ReasonOf(const HttpAnswer& answer) {
  std::string reason(answer.Header("x-error-message"));
  if (reason.empty()) {
    const Result<Json> json = Json::Parse(answer.body, "hub");
    if (json.ok()) reason = TextOf(json->Find("error"));
  }
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return reason.substr(0, 300);
}

Status NoFile(const std::string& why) { return Corrupt("hub: the listing of files makes no sense: {}", why); }

}  // namespace

Result<std::string> ParseCommit(std::string_view json) {
  ADIT_ASSIGN_OR_RETURN(const Json root, Json::Parse(json, "hub", {.max_bytes = kMaxAnswerBytes}));
  std::string commit = TextOf(root.Find("sha"));
  if (!IsHex(commit, 40)) return Corrupt("hub: the description of the model has no commit ('sha')");
  return commit;
}

Status ParseTreePage(std::string_view json, std::vector<HubFile>& files) {
  ADIT_ASSIGN_OR_RETURN(const Json root, Json::Parse(json, "hub", {.max_bytes = kMaxAnswerBytes}));
  const Json::Array* entries = root.AsArray();
  if (entries == nullptr) return NoFile(fmt::format("it is {}, wanted an array", root.KindName()));
  for (const Json& entry : *entries) {
    if (TextOf(entry.Find("type")) != "file") continue;
    HubFile file{.path = TextOf(entry.Find("path"))};
    // Hidden ones (.gitattributes) are of no use to anybody here.
    const size_t last = file.path.rfind('/');
    const std::string_view name = std::string_view(file.path).substr(last == std::string::npos ? 0 : last + 1);
    if (name.starts_with('.') && name != "." && name != "..") continue;
    if (!IsSafePath(file.path)) return NoFile(fmt::format("'{}' is no path of a file", file.path.substr(0, 200)));
    const Json* size = entry.Find("size");
    const Json* lfs = entry.Find("lfs");
    if (lfs != nullptr && lfs->AsObject() != nullptr) {
      file.sha256 = TextOf(lfs->Find("oid"));
      if (file.sha256.starts_with("sha256:")) file.sha256.erase(0, 7);
      if (lfs->Find("size") != nullptr) size = lfs->Find("size");
      if (!IsHex(file.sha256, 64)) return NoFile(fmt::format("'{}' has no sha256", file.path));
    } else {
      file.git_blob = TextOf(entry.Find("oid"));
      if (!IsHex(file.git_blob, 40)) return NoFile(fmt::format("'{}' has no hash", file.path));
    }
    const int64_t* bytes = size == nullptr ? nullptr : size->AsInt();
    if (bytes == nullptr || *bytes < 0) return NoFile(fmt::format("'{}' has no size", file.path));
    file.size_bytes = *bytes;
    files.push_back(std::move(file));
    if (files.size() > kMaxFiles) return ResourceExhausted("hub: the model has more than {} files", kMaxFiles);
  }
  return Status();
}

std::string NextPage(std::string_view link) {
  while (!link.empty()) {
    const size_t begin = link.find('<');
    const size_t end = link.find('>', begin == std::string_view::npos ? 0 : begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return "";
    const std::string_view rest = link.substr(end, link.find(',', end) - end);
    if (rest.find("rel=\"next\"") != std::string_view::npos)
      return std::string(link.substr(begin + 1, end - begin - 1));
    link.remove_prefix(end + rest.size());
  }
  return "";
}

Result<HubClient> HubClient::Create(HubOptions options) {
  ADIT_ASSIGN_OR_RETURN(Url endpoint, ParseUrl(options.endpoint));
  while (endpoint.target.ends_with('/')) endpoint.target.pop_back();
  return HubClient(std::move(options), std::move(endpoint));
}

Url HubClient::At(std::string_view path) const {
  Url url = endpoint_;
  url.target += path;
  return url;
}

Status HubClient::StatusOf(const HttpAnswer& answer, const std::string& what) const {
  if (answer.status >= 200 && answer.status < 300) return Status();
  const std::string where = endpoint_.Authority();
  const std::string_view code = answer.Header("x-error-code");
  const std::string reason = ReasonOf(answer);
  const std::string why =
      reason.empty() ? fmt::format("status {}", answer.status) : fmt::format("status {}: {}", answer.status, reason);
  if (code == "GatedRepo") {
    return FailedPrecondition(
        "{}: {} is gated: its terms are to be accepted on its page, and HF_TOKEN to hold a token of who did ({})",
        where, what, why);
  }
  if (code == "RevisionNotFound") return NotFound("{}: {}: there is no such revision ({})", where, what, why);
  if (answer.status == 401) {
    return FailedPrecondition("{}: {}: {}", where, what,
                              options_.token.empty()
                                  ? fmt::format("there is no such model, or it needs a token in HF_TOKEN ({})", why)
                                  : fmt::format("the token is not accepted, or there is no such model ({})", why));
  }
  if (answer.status == 403) return FailedPrecondition("{}: {}: the token does not suffice ({})", where, what, why);
  if (answer.status == 404) return NotFound("{}: {}: there is no such model, revision or file ({})", where, what, why);
  return Io("{}: {}: {}", where, what, why);
}

Result<HttpAnswer> HubClient::Ask(const Url& url, const std::string& what) const {
  ADIT_ASSIGN_OR_RETURN(HttpAnswer answer,
                        ExchangeText({.url = url, .token = options_.token}, options_.limits, kMaxAnswerBytes));
  ADIT_RETURN_IF_ERROR(StatusOf(answer, what));
  return answer;
}

Result<HubModel> HubClient::Describe(const ModelRef& ref) const {
  const std::string revision = ref.revision.empty() ? "main" : ref.revision;
  const std::string what = ref.revision.empty() ? ref.repository : fmt::format("{}@{}", ref.repository, revision);
  const std::string base = "/api/models/" + EscapePath(ref.repository);
  // A revision is one word of the path: its slashes are escaped too.
  std::string word;
  for (const char c : revision) word += c == '/' ? std::string("%2F") : EscapePath({&c, 1});
  ADIT_ASSIGN_OR_RETURN(const HttpAnswer info, Ask(At(fmt::format("{}/revision/{}", base, word)), what));
  HubModel model;
  ADIT_ASSIGN_OR_RETURN(model.commit, ParseCommit(info.body));
  Url url = At(fmt::format("{}/tree/{}?recursive=true", base, model.commit));
  for (int page = 0; page < kMaxPages; ++page) {
    ADIT_ASSIGN_OR_RETURN(const HttpAnswer answer, Ask(url, what));
    ADIT_RETURN_IF_ERROR(ParseTreePage(answer.body, model.files));
    const std::string next = NextPage(answer.Header("link"));
    if (next.empty()) return model;
    ADIT_ASSIGN_OR_RETURN(const Url there, ParseLocation(url, next));
    // It would get the token.
    if (!there.SameServer(url)) return NoFile(fmt::format("it goes on at another server, {}", there.Authority()));
    url = there;
  }
  return NoFile(fmt::format("it has more than {} pages", kMaxPages));
}

Status HubClient::Read(const std::string& repository, const std::string& commit, const HubFile& file, int64_t begin,
                       int64_t end, const HttpSink& sink) const {
  const bool is_whole = begin == 0 && end == file.size_bytes;
  HttpWish wish{.url = At(fmt::format("/{}/resolve/{}/{}", EscapePath(repository), commit, EscapePath(file.path))),
                .token = options_.token,
                .range_begin = begin,
                .range_end = is_whole ? 0 : end};
  const auto checked = [&](const HttpAnswer& head, std::string_view bytes) {
    const std::string wanted = fmt::format("bytes {}-{}/", begin, end - 1);
    if (!is_whole && (head.status != 206 || !head.Header("content-range").starts_with(wanted))) {
      return Unsupported("{}: {}: the server does not send parts of files", endpoint_.Authority(), file.path);
    }
    return sink(head, bytes);
  };
  ADIT_ASSIGN_OR_RETURN(const HttpAnswer answer, Exchange(wish, options_.limits, checked));
  return StatusOf(answer, repository + "/" + file.path);
}

}  // namespace adit::hub
