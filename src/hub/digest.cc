#include "hub/digest.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/error.h"

namespace adit::hub {

Digest::Digest(const char* algorithm) : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  ADIT_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_get_digestbyname(algorithm), nullptr) == 1);
}

Digest Digest::Sha256() { return Digest("SHA256"); }

Digest Digest::GitBlob(int64_t size_bytes) {
  Digest digest("SHA1");
  const std::string head = fmt::format("blob {}", size_bytes);
  digest.Update({head.c_str(), head.size() + 1});  // with its zero
  return digest;
}

void Digest::Update(std::string_view bytes) {
  ADIT_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digest::Finish() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ADIT_CHECK(EVP_DigestFinal_ex(context_.get(), bytes, &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

Result<std::string> HashFile(const std::string& path, Digest digest,
                             const std::function<Status(int64_t done_bytes)>& on_progress) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Io("'{}': {}", path, std::strerror(errno));
  std::vector<char> buffer(size_t{1} << 20);
  int64_t done = 0;
  Status status;
  while (status.ok()) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status = Io("'{}': {}", path, std::strerror(errno));
      break;
    }
    digest.Update({buffer.data(), static_cast<size_t>(count)});
    done += count;
    status = on_progress(done);
  }
  ::close(file);
  if (!status.ok()) return status;
  return digest.Finish();
}

}  // namespace adit::hub
