#ifndef ADIT_HUB_HUB_CLIENT_H_
#define ADIT_HUB_HUB_CLIENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "hub/http_client.h"
#include "hub/model_ref.h"

namespace adit::hub {

// A file of a repository as the hub tells of it.
struct HubFile {
  std::string path;  // safe, as IsSafePath has it
  int64_t size_bytes = 0;
  std::string sha256;    // of its bytes; empty: it is small and kept in git
  std::string git_blob;  // the name that git gives it then
};

// A repository at one commit.
struct HubModel {
  std::string commit;
  std::vector<HubFile> files;
};

struct HubOptions {
  std::string endpoint;  // "https://huggingface.co"
  std::string token;     // empty: none
  HttpLimits limits;
};

// Asks a server that speaks the protocol of the Hugging Face hub. Any thread.
class HubClient {
 public:
  // InvalidArgument for an endpoint that is no address.
  static Result<HubClient> Create(HubOptions options);

  // What `ref` names now. NotFound when there is no such repository or revision, FailedPrecondition when a token is
  // needed or not enough; Corrupt when the hub's answer makes no sense.
  Result<HubModel> Describe(const ModelRef& ref) const;
  // Bytes [begin, end) of a file; `begin` only moves on when the sink has had them. Errors as Describe, and Io, which a
  // further try may not meet.
  Status Read(const std::string& repository, const std::string& commit, const HubFile& file, int64_t begin, int64_t end,
              const HttpSink& sink) const;

  const HubOptions& options() const { return options_; }

 private:
  HubClient(HubOptions options, Url endpoint) : options_(std::move(options)), endpoint_(std::move(endpoint)) {}
  Url At(std::string_view path) const;
  Result<HttpAnswer> Ask(const Url& url, const std::string& what) const;
  // The error that an answer stands for; Ok for a success.
  Status StatusOf(const HttpAnswer& answer, const std::string& what) const;

  HubOptions options_;
  Url endpoint_;
};

// The parsers of what the hub answers. Corrupt for what makes no sense, unsafe paths among it.
Result<std::string> ParseCommit(std::string_view json);
// Appends the files of one page of a listing.
Status ParseTreePage(std::string_view json, std::vector<HubFile>& files);
// The address of the next page in a header Link; empty: there is none.
std::string NextPage(std::string_view link);

}  // namespace adit::hub

#endif  // ADIT_HUB_HUB_CLIENT_H_
