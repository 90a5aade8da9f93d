#ifndef ADIT_HUB_DOWNLOAD_H_
#define ADIT_HUB_DOWNLOAD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "adit/status.h"
#include "hub/hub_client.h"

namespace adit::hub {

struct DownloadJob {
  const HubClient& hub;
  std::string repository;
  std::string commit;
  HubFile file;
  std::string path;     // where it goes
  int connections = 4;  // parts that come at once
  int max_tries = 5;    // in a row of which nothing came
  bool resume = true;   // goes on with what an earlier run has left
};

// Told on the calling thread: bytes that are there, or, when all are, bytes whose hash is taken.
using DownloadProgress = std::function<void(int64_t done_bytes, bool is_verifying)>;

// Fetches a file. It stands beside its place, with a map of what is there, until it is whole and its hash is the one
// that the hub tells of; a cut is waited out and gone on from, in this run and the next. Corrupt for another hash (what
// came is removed then); Io and the errors of HubClient::Read; Cancelled when the hub's limits say so.
Status Download(const DownloadJob& job, const DownloadProgress& on_progress);

// Whether the file at `path` is the one that the hub tells of, by its hash.
Result<bool> IsFile(const std::string& path, const HubFile& file, const DownloadProgress& on_progress);

}  // namespace adit::hub

#endif  // ADIT_HUB_DOWNLOAD_H_
