#ifndef ADIT_SERVER_DISK_FILE_H_
#define ADIT_SERVER_DISK_FILE_H_

#include <string>
#include <string_view>

#include "adit/status.h"

// Files that the server keeps for its clients: for its user alone, and whole or not there.
namespace adit::server {

// What a file that is being written is called until it is whole: its path with this behind.
inline constexpr std::string_view kUnfinishedEnding = ".part";

// `what`, as "responses", is for messages: who asked for it is told no path.

// Writes a file in place of what is there, which stays where that fails. ResourceExhausted when there is no room, else
// Io.
Status WriteWholeFile(const std::string& path, std::string_view text, std::string_view what);

// Adds to the end of a file, making it if it is not there: all of it or nothing.
Status AppendToFile(const std::string& path, std::string_view text, std::string_view what);

// All of a file. NotFound or Io.
Result<std::string> ReadWholeFile(const std::string& path, std::string_view what);

}  // namespace adit::server

#endif  // ADIT_SERVER_DISK_FILE_H_
