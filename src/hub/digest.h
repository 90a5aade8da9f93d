#ifndef ADIT_HUB_DIGEST_H_
#define ADIT_HUB_DIGEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "adit/status.h"

struct evp_md_ctx_st;

namespace adit::hub {

// A hash of bytes that come one after the other.
class Digest {
 public:
  static Digest Sha256();
  // That of a git blob of so many bytes, which the hub tells of files that it keeps in git itself.
  static Digest GitBlob(int64_t size_bytes);

  void Update(std::string_view bytes);
  // In lower-case hexadecimal. Once.
  std::string Finish();

 private:
  explicit Digest(const char* algorithm);
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// Hashes a file by `digest`. `on_progress` is told how many bytes are done; what it returns, when no Ok, ends it. Io
// when the file cannot be read.
Result<std::string> HashFile(const std::string& path, Digest digest,
                             const std::function<Status(int64_t done_bytes)>& on_progress);

}  // namespace adit::hub

#endif  // ADIT_HUB_DIGEST_H_
