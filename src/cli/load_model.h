#ifndef ADIT_CLI_LOAD_MODEL_H_
#define ADIT_CLI_LOAD_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "cli/options.h"
#include "engine/kv_types.h"
#include "engine/loaded_model.h"

namespace adit::cli {

// The kernels to use: the flag, else ADIT_ISA, else the best that the machine has.
std::string ChosenIsa(const EngineOptions& options);
// The number of threads: the flag, else ADIT_THREADS, else 0 for one for each CPU. InvalidArgument when the variable is
// no number of 1..256.
Result<int> ChosenThreads(const EngineOptions& options);
// InvalidArgument when the flag names no type.
Result<engine::KvTypes> ChosenKvTypes(const EngineOptions& options);
// Tokens that the cache holds: `wanted`, the flag --kv-tokens, if memory has room for it; else `usual`, or what half of
// the available memory has room for. ResourceExhausted when memory does not suffice.
Result<int64_t> ChosenKvTokens(std::optional<int64_t> wanted, int64_t usual, const engine::LoadedModel& model,
                               const engine::KvTypes& types);
// The same of a budget for the whole process, the flag --memory ("80%", "24G"): what the weights and all else leave, at
// most most_tokens.
Result<int64_t> KvTokensWithinMemory(std::string_view memory, int64_t most_tokens, const engine::LoadedModel& model,
                                     const engine::KvTypes& types);
// Of each sequence that may run, in the usual size of a cache for many.
inline constexpr int64_t kKvTokensPerSequence = 2048;

// Bytes of a model's weights in the types that the options say. Errors as OpenModel.
Result<int64_t> WeightBytesOf(const std::string& name, const EngineOptions& options);

// Loads a model as the options say, with a progress bar; `progress`, if any, is told the share too, and may end it.
// ResourceExhausted when the file is larger than the memory.
Result<std::unique_ptr<engine::LoadedModel>> LoadModel(const std::string& name, const EngineOptions& options,
                                                       const std::function<Status(double share)>& progress = {});

}  // namespace adit::cli

#endif  // ADIT_CLI_LOAD_MODEL_H_
