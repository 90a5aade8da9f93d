#ifndef ADIT_CLI_TRACE_FILE_H_
#define ADIT_CLI_TRACE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "sched/workload.h"

namespace adit::cli {

// Requests of a trace: JSON objects, one a line, as the traces that Mooncake published have them (Qin et al.,
// "Mooncake", FAST 2025):
//   {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]}
// timestamp: milliseconds, 0 where absent; hash_ids, which may be absent: equal ids are equal blocks of 512 tokens, so
// prompts that begin with the same ids share a prefix. The rest of a prompt is its own. Other fields are ignored.
// `name` is for messages. At most max_requests lines are read. InvalidArgument that names the line and what is wrong.
Result<std::vector<sched::WorkloadRequest>> ParseTrace(std::string_view text, std::string_view name,
                                                       std::optional<int64_t> max_requests);

}  // namespace adit::cli

#endif  // ADIT_CLI_TRACE_FILE_H_
