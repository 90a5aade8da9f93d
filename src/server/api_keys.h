#ifndef ADIT_SERVER_API_KEYS_H_
#define ADIT_SERVER_API_KEYS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "server/quotas.h"

namespace adit::server {

// What a key opens. One scope does not hold another.
enum class Scope : uint8_t {
  kPublic,     // nothing is needed
  kRead,       // models, metrics, tokenizing
  kInference,  // generating
  kAdmin,
};
std::string_view ScopeName(Scope scope);

// Who a key belongs to.
struct KeyHolder {
  std::string id = "none";  // for logs
  std::string tenant = "default";
  double weight = 1.0;  // of the tenant under the fair policy
  QuotaLimits quota;    // of the key
  bool may_read = true;
  bool may_infer = true;
  bool may_administer = false;
  bool may_delegate = false;  // to act for another tenant: the header x-tenant

  bool Has(Scope scope) const;
};

// The keys that clients show. Kept as SHA-256 hashes; compared in constant time. Any thread.
class ApiKeys {
 public:
  // `plain`: keys with all scopes. `path`: a file with a key on each line, read again when it changes:
  //   sha256:HEX [id=NAME] [tenant=NAME] [scopes=read,inference,admin] [weight=X] [rpm=N] [tpm=N] [concurrent=N]
  //   [kv=BYTES] [delegate]
  // Empty lines and those that begin with '#' say nothing. InvalidArgument with the line for anything else.
  static Result<std::unique_ptr<ApiKeys>> Create(const std::vector<std::string>& plain, const std::string& path);

  // Without keys everybody may do everything.
  bool required() const { return required_; }
  // Who shows this key; nothing for one that is not known. Looks for a changed file first, at most once a second.
  std::optional<KeyHolder> Find(std::string_view key);
  // Reads the file again if it has changed. The present keys stay when it cannot be read or is wrong.
  Status Reload();
  // The tenants of all keys, without repetition.
  std::vector<KeyHolder> Tenants() const;

 private:
  using Hash = std::array<unsigned char, 32>;
  struct Entry {
    Hash hash;
    KeyHolder holder;
  };
  struct Stamp {
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    int64_t size = -1;
    bool operator==(const Stamp&) const = default;
  };

  ApiKeys() = default;
  static Hash HashOf(std::string_view key);
  static Result<std::vector<Entry>> ReadFile(const std::string& path);
  static Result<Entry> ReadLine(std::string_view line);
  static Stamp StampOf(const std::string& path);
  Status ReloadLocked();

  // Constant after construction.
  std::string path_;
  std::vector<Entry> plain_;
  bool required_ = false;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Entry> entries_;
  Stamp stamp_;
  double looked_s_ = 0.0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_API_KEYS_H_
