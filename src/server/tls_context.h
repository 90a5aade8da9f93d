#ifndef ADIT_SERVER_TLS_CONTEXT_H_
#define ADIT_SERVER_TLS_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adit/status.h"

namespace boost::asio::ssl {
class context;
}

namespace adit::server {

// PEM files. Without a certificate there is no TLS.
struct TlsFiles {
  std::string certificate;       // with its chain
  std::string key;               // of the certificate
  std::string client_authority;  // clients must show a certificate that it has signed; empty: they need none
};

// What new connections greet with: TLS 1.2 and above, read again when the files change. Any thread.
class TlsContext {
 public:
  using Context = std::shared_ptr<boost::asio::ssl::context>;

  // InvalidArgument, with the file and OpenSSL's reason, for files that cannot be used.
  static Result<std::unique_ptr<TlsContext>> Create(const TlsFiles& files);

  // Looks for changed files first, at most once a second; those that are wrong leave it as it was.
  Context Get();
  // Reads the files now.
  Status Reload();

 private:
  explicit TlsContext(const TlsFiles& files) : files_(files) {}
  static Result<Context> Load(const TlsFiles& files);
  // When the files were written and how large they are.
  std::vector<int64_t> Stamps() const;
  Status ReloadLocked();

  const TlsFiles files_;

  std::mutex mutex_;
  // Guarded by mutex_.
  Context context_;
  std::vector<int64_t> stamps_;
  double looked_s_ = 0.0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TLS_CONTEXT_H_
