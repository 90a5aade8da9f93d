#ifndef ADIT_HUB_PULL_H_
#define ADIT_HUB_PULL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adit/status.h"
#include "hub/hub_client.h"
#include "hub/model_store.h"

namespace adit::hub {

struct PullOptions {
  std::vector<std::string> include;  // globs; empty: what the model needs
  int connections = 4;
  bool resume = true;
  bool verify = false;  // files that are there already are read and hashed again
};

struct PullProgress {
  std::string file;         // that is fetched now
  int64_t done_bytes = 0;   // of all files
  int64_t total_bytes = 0;  // the same
  int64_t kept_bytes = 0;   // that were there before
  bool is_verifying = false;
};

struct PullResult {
  StoredModel model;
  int64_t fetched_bytes = 0;
};

// The hub that the environment names (HF_ENDPOINT), with the user's token (HF_TOKEN, or the file that Hugging Face's
// tools keep it in). `cancel` may be null.
Result<HubClient> HubOfUser(const std::atomic<bool>* cancel);

// Fetches the model that `ref` names into the store. What is there already stays. One process at a time fetches of a
// repository: FailedPrecondition for a second. Errors of HubClient, ChooseFiles, Download and ModelStore.
Result<PullResult> Pull(const HubClient& hub, const ModelStore& store, const ModelRef& ref, const PullOptions& options,
                        const std::function<void(const PullProgress&)>& on_progress);

}  // namespace adit::hub

#endif  // ADIT_HUB_PULL_H_
