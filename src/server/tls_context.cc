#include "server/tls_context.h"

#include <sys/stat.h>

#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace adit::server {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

constexpr double kLookForCertificateEveryS = 1.0;

Status Wrong(const char* what, const std::string& path, const error_code& error) {
  return InvalidArgument("tls: {} '{}': {}", what, path, error.message());
}

}  // namespace

Result<TlsContext::Context> TlsContext::Load(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  if (error) return Wrong("options of", files.certificate, error);
  context->use_certificate_chain_file(files.certificate, error);
  if (error) return Wrong("certificate", files.certificate, error);
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return Wrong("key", files.key, error);
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return InvalidArgument("tls: the key '{}' is not that of the certificate '{}'", files.key, files.certificate);
  }
  if (files.client_authority.empty()) return context;
  context->load_verify_file(files.client_authority, error);
  if (error) return Wrong("authority of clients", files.client_authority, error);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  if (error) return Wrong("authority of clients", files.client_authority, error);
  // Sessions of clients that were verified are told apart from those of other servers.
  constexpr unsigned char kName[] = "adit";
  (void)::SSL_CTX_set_session_id_context(context->native_handle(), kName, sizeof(kName) - 1);
  return context;
}

Result<std::unique_ptr<TlsContext>> TlsContext::Create(const TlsFiles& files) {
  if (files.key.empty()) return InvalidArgument("tls: the certificate '{}' has no key", files.certificate);
  std::unique_ptr<TlsContext> tls(new TlsContext(files));
  ADIT_RETURN_IF_ERROR(tls->Reload());
  return tls;
}

std::vector<int64_t> TlsContext::Stamps() const {
  std::vector<int64_t> stamps;
  for (const std::string* path : {&files_.certificate, &files_.key, &files_.client_authority}) {
    struct stat info = {};
    if (path->empty() || ::stat(path->c_str(), &info) != 0) continue;
    stamps.insert(stamps.end(), {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size});
  }
  return stamps;
}

TlsContext::Context TlsContext::Get() {
  const std::lock_guard lock(mutex_);
  const double now_s = SteadySeconds();
  if (now_s - looked_s_ >= kLookForCertificateEveryS) {
    looked_s_ = now_s;
    // A certificate whose key has not come yet is looked at again: each write is a change.
    if (Stamps() != stamps_) (void)ReloadLocked();
  }
  return context_;
}

Status TlsContext::Reload() {
  const std::lock_guard lock(mutex_);
  return ReloadLocked();
}

Status TlsContext::ReloadLocked() {
  stamps_ = Stamps();
  ADIT_ASSIGN_OR_RETURN(context_, Load(files_));
  return Status();
}

}  // namespace adit::server
