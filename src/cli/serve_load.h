#ifndef ADIT_CLI_SERVE_LOAD_H_
#define ADIT_CLI_SERVE_LOAD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "adit/status.h"
#include "cli/bench_run.h"
#include "sched/load_summary.h"
#include "sched/workload.h"

namespace adit::cli {

enum class ServedEndpoint : uint8_t { kChat, kCompletions };

// A server of OpenAI's interface, and how it is asked.
struct ServeTarget {
  std::string url;      // without a slash at its end: "http://127.0.0.1:8000/v1"
  std::string model;    // for the field "model"
  std::string api_key;  // empty: none
  ServedEndpoint endpoint = ServedEndpoint::kChat;
  bool ignore_eos = true;         // answers have the length of the workload, where the server knows the field
  std::string extra_body = "{}";  // a JSON object whose members go into each body
  double timeout_s = 600.0;       // of a request
};

struct ServeLoadOptions {
  int64_t max_concurrency = 0;  // requests that have not ended; others wait for their turn. 0: no limit
  // Requests of the endpoint for completions send the tokens themselves; else words stand for them (prompt_words.h).
  bool sends_ids = false;
  // Of chats: this many tokens that prompts begin with become a system message.
  int64_t system_tokens = 0;
  sched::Objectives objectives;
};

// "http://host:8000", also with "/v1" or a slash behind it, as ServeTarget has it. InvalidArgument for anything else.
Result<std::string> ParseServerUrl(const std::string& url);

// The id of the first model that a server names; nothing where it names none. Io when it does not answer.
Result<std::optional<std::string>> FirstModelOf(const ServeTarget& target);

// Sends the workload to a server, in real time: each request at its time, or when one has ended if it has to wait for
// that. Times count from when a request is sent. All runs on the calling thread. What becomes of requests that fail is
// in the run's errors; only what keeps the client itself from going on is an error.
Result<BenchRun> LoadServer(const ServeTarget& target, const sched::Workload& workload, const ServeLoadOptions& options,
                            const LoadProgress& progress);

}  // namespace adit::cli

#endif  // ADIT_CLI_SERVE_LOAD_H_
