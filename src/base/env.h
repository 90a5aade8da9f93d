#ifndef ADIT_BASE_ENV_H_
#define ADIT_BASE_ENV_H_

#include <optional>
#include <string>

namespace adit {

// The environment variables that adit reads; nothing else calls getenv. Absent and empty are the same.
namespace env {

// ADIT_ISA: the kernel set to use: auto, ref, avx2, avx512.
std::optional<std::string> Isa();

// ADIT_THREADS: number of kernel threads.
std::optional<std::string> Threads();

// Where models that were fetched are kept: ADIT_MODELS, else adit/models in XDG_CACHE_HOME or ~/.cache. Absent when
// none of these is set.
std::optional<std::string> ModelFolder();

// HF_ENDPOINT: the address of the hub that models are fetched from.
std::optional<std::string> HubEndpoint();
// HF_TOKEN: what the hub knows the user by.
std::optional<std::string> HubToken();
// The file that Hugging Face's tools keep it in: HF_TOKEN_PATH, else the file "token" in HF_HOME or in huggingface in
// XDG_CACHE_HOME or ~/.cache.
std::optional<std::string> HubTokenFile();

// SSL_CERT_FILE, SSL_CERT_DIR: the certificates that servers are trusted by, as OpenSSL names them. libcurl reads the
// names of proxies by itself.
std::optional<std::string> CertificateFile();
std::optional<std::string> CertificateFolder();

// ADIT_URL, ADIT_API_KEY: the server that commands talk to, and the key that they show it.
std::optional<std::string> ServerUrl();
std::optional<std::string> ServerKey();

// TERM is "dumb" or not set: the terminal's cursor cannot be moved.
bool DumbTerminal();

// NO_COLOR and TERM=dumb: no control sequences on the terminal.
bool PlainTerminal();

}  // namespace env
}  // namespace adit

#endif  // ADIT_BASE_ENV_H_
