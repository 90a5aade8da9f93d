#ifndef ADIT_CLI_SAVED_TALK_H_
#define ADIT_CLI_SAVED_TALK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "cli/conversation.h"

namespace adit::cli {

// What /save of a talk writes and /load reads (docs/formats/saved_talk.md).
struct SavedTalk {
  std::string model;  // its name, for people
  std::optional<std::string> system;
  std::vector<Turn> turns;
};

inline constexpr size_t kMaxTalkBytes = size_t{64} << 20;
inline constexpr size_t kMaxTalkTurns = 65'536;

std::string SavedTalkText(const SavedTalk& talk);

// `name` is for messages. Corrupt for what is no saved talk, Unsupported for another version, ResourceExhausted beyond
// the limits.
Result<SavedTalk> ParseSavedTalk(std::string_view text, const std::string& name);

// Reads a file of at most kMaxTalkBytes. NotFound, InvalidArgument or Io when it cannot be read; else as above.
Result<SavedTalk> ReadSavedTalk(const std::string& path);

// Writes a file that appears whole or not at all. FailedPrecondition where there is a file that is no saved talk;
// errors of AtomicFile.
Status WriteSavedTalk(const SavedTalk& talk, const std::string& path);

}  // namespace adit::cli

#endif  // ADIT_CLI_SAVED_TALK_H_
