#include "server/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "server/ascii.h"

namespace adit::server {
namespace {

constexpr double kLookForKeysEveryS = 1.0;
constexpr size_t kMaxKeys = 100'000;
constexpr size_t kMaxWordBytes = 256;
constexpr int64_t kMaxQuota = 1'000'000'000;
constexpr int64_t kMaxQuotaBytes = int64_t{1} << 40;

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == ':';
  });
}

Status ReadScopes(std::string_view list, KeyHolder& holder) {
  holder.may_read = holder.may_infer = holder.may_administer = false;
  while (true) {
    const std::string_view word = list.substr(0, list.find(','));
    if (word == "read") {
      holder.may_read = true;
    } else if (word == "inference") {
      holder.may_infer = true;
    } else if (word == "admin") {
      holder.may_administer = true;
    } else {
      return InvalidArgument("scope '{}' is none of read, inference and admin", word);
    }
    if (word.size() == list.size()) return Status();
    list.remove_prefix(word.size() + 1);
  }
}

Status ReadCount(std::string_view name, std::string_view value, int64_t& out) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error == std::errc() && end == value.data() + value.size() && out > 0 && out <= kMaxQuota) return Status();
  return InvalidArgument("{} '{}' is no whole number of 1..{}", name, value, kMaxQuota);
}

// Bytes, with K, M or G for powers of 1024.
Status ReadBytes(std::string_view name, std::string_view value, int64_t& out) {
  constexpr std::string_view kUnits = "KMG";
  const size_t unit = value.empty() ? std::string_view::npos : kUnits.find(value.back());
  const int shift = unit == std::string_view::npos ? 0 : 10 * static_cast<int>(unit + 1);
  const std::string_view number = shift == 0 ? value : value.substr(0, value.size() - 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out);
  if (error != std::errc() || end != number.data() + number.size() || out < 1 || out > kMaxQuotaBytes >> shift) {
    return InvalidArgument("{} '{}' is no number of bytes up to 1024G, such as 512M", name, value);
  }
  out <<= shift;
  return Status();
}

Status ReadWord(std::string_view word, KeyHolder& holder) {
  const size_t mark = word.find('=');
  const std::string_view name = word.substr(0, mark);
  const std::string_view value = mark == std::string_view::npos ? "" : word.substr(mark + 1);
  if (word == "delegate") {
    holder.may_delegate = true;
    return Status();
  }
  if (name == "scopes") return ReadScopes(value, holder);
  if (name == "weight") {
    char* end = nullptr;
    const std::string text(value);
    holder.weight = std::strtod(text.c_str(), &end);
    const bool good = !text.empty() && *end == '\0' && std::isfinite(holder.weight) && holder.weight > 0;
    return good ? Status() : InvalidArgument("weight '{}' is no number above 0", value);
  }
  if (name == "rpm") return ReadCount(name, value, holder.quota.requests_per_minute);
  if (name == "tpm") return ReadCount(name, value, holder.quota.tokens_per_minute);
  if (name == "concurrent") return ReadCount(name, value, holder.quota.max_concurrent);
  if (name == "kv") return ReadBytes(name, value, holder.quota.max_kv_bytes);
  if (name != "id" && name != "tenant") {
    return InvalidArgument("'{}' is none of id=, tenant=, scopes=, weight=, rpm=, tpm=, concurrent=, kv= and delegate",
                           name);
  }
  if (!IsName(value)) return InvalidArgument("{} '{}' is not 1 to 128 of A-Z a-z 0-9 . _ : -", name, value);
  (name == "id" ? holder.id : holder.tenant) = value;
  return Status();
}

}  // namespace

std::string_view ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kPublic:
      return "public";
    case Scope::kRead:
      return "read";
    case Scope::kInference:
      return "inference";
    case Scope::kAdmin:
      return "admin";
  }
  return "unknown";
}

bool KeyHolder::Has(Scope scope) const {
  switch (scope) {
    case Scope::kPublic:
      return true;
    case Scope::kRead:
      return may_read;
    case Scope::kInference:
      return may_infer;
    case Scope::kAdmin:
      return may_administer;
  }
  return false;
}

ApiKeys::Hash ApiKeys::HashOf(std::string_view key) {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash.data());
  return hash;
}

Result<ApiKeys::Entry> ApiKeys::ReadLine(std::string_view line) {
  constexpr std::string_view kMark = "sha256:";
  std::istringstream words{std::string(line)};
  std::string word;
  words >> word;
  Entry entry;
  if (!word.starts_with(kMark) || word.size() != kMark.size() + 2 * entry.hash.size()) {
    return InvalidArgument("a key is written sha256: and 64 hexadecimal digits, such as sha256sum prints");
  }
  for (size_t i = 0; i < entry.hash.size(); ++i) {
    const int high = HexDigit(word[kMark.size() + 2 * i]);
    const int low = HexDigit(word[kMark.size() + 2 * i + 1]);
    if (high < 0 || low < 0) return InvalidArgument("the hash has a character that is no hexadecimal digit");
    entry.hash[i] = static_cast<unsigned char>(high * 16 + low);
  }
  entry.holder.id = word.substr(kMark.size(), 8);
  while (words >> word) {
    if (word.size() > kMaxWordBytes) return InvalidArgument("a word of {} bytes is too long", word.size());
    ADIT_RETURN_IF_ERROR(ReadWord(word, entry.holder));
  }
  return entry;
}

Result<std::vector<ApiKeys::Entry>> ApiKeys::ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Io("api keys '{}': {}", path, std::strerror(errno));
  std::vector<Entry> entries;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') continue;
    Result<Entry> entry = ReadLine(line);
    if (!entry.ok()) return InvalidArgument("api keys '{}', line {}: {}", path, number, entry.status().message());
    if (entries.size() == kMaxKeys) return InvalidArgument("api keys '{}': more than {} keys", path, kMaxKeys);
    entries.push_back(std::move(entry).value());
  }
  if (file.bad()) return Io("api keys '{}': {}", path, std::strerror(errno));
  return entries;
}

ApiKeys::Stamp ApiKeys::StampOf(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.seconds = info.st_mtim.tv_sec, .nanoseconds = info.st_mtim.tv_nsec, .size = info.st_size};
}

Result<std::unique_ptr<ApiKeys>> ApiKeys::Create(const std::vector<std::string>& plain, const std::string& path) {
  std::unique_ptr<ApiKeys> keys(new ApiKeys());
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i].empty()) return InvalidArgument("an API key is empty");
    Entry entry{.hash = HashOf(plain[i]), .holder = {}};
    entry.holder.id = fmt::format("key{}", i + 1);
    entry.holder.may_administer = true;
    keys->plain_.push_back(std::move(entry));
  }
  keys->path_ = path;
  keys->required_ = !plain.empty() || !path.empty();
  keys->entries_ = keys->plain_;
  if (path.empty()) return keys;
  if (StampOf(path) == Stamp{}) return InvalidArgument("api keys '{}': {}", path, std::strerror(errno));
  ADIT_RETURN_IF_ERROR(keys->Reload());
  return keys;
}

Status ApiKeys::Reload() {
  const std::lock_guard lock(mutex_);
  return ReloadLocked();
}

Status ApiKeys::ReloadLocked() {
  looked_s_ = SteadySeconds();
  const Stamp stamp = StampOf(path_);
  if (stamp == stamp_) return Status();
  // A file that is wrong is told of once, not at every request.
  stamp_ = stamp;
  ADIT_ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadFile(path_));
  entries.insert(entries.end(), plain_.begin(), plain_.end());
  entries_ = std::move(entries);
  return Status();
}

std::optional<KeyHolder> ApiKeys::Find(std::string_view key) {
  const Hash hash = HashOf(key);
  const std::lock_guard lock(mutex_);
  if (!path_.empty() && SteadySeconds() - looked_s_ >= kLookForKeysEveryS) (void)ReloadLocked();
  // All of them, whichever matches: time tells nothing.
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry;
  }
  return found == nullptr ? std::nullopt : std::optional(found->holder);
}

std::vector<KeyHolder> ApiKeys::Tenants() const {
  const std::lock_guard lock(mutex_);
  std::vector<KeyHolder> tenants;
  for (const Entry& entry : entries_) {
    const bool known = std::any_of(tenants.begin(), tenants.end(),
                                   [&](const KeyHolder& other) { return other.tenant == entry.holder.tenant; });
    if (!known) tenants.push_back(entry.holder);
  }
  return tenants;
}

}  // namespace adit::server
