#ifndef ADIT_CLI_TALK_FLAGS_H_
#define ADIT_CLI_TALK_FLAGS_H_

#include <string>

#include "adit/status.h"
#include "cli/options.h"

namespace adit::cli {

// Sets what the flag --`name` of adit run sets, among those that can change while a talk goes on: sampling, seed,
// max-tokens, ignore-eos and verbose. A switch takes on and off. InvalidArgument for a name that is not among them and
// a value that the flag does not take.
Status SetTalkFlag(const std::string& name, const std::string& value, RunOptions& options);

// The names of these flags and what each does, a line each.
std::string TalkFlagHelp();

}  // namespace adit::cli

#endif  // ADIT_CLI_TALK_FLAGS_H_
