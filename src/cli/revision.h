#ifndef ADIT_CLI_REVISION_H_
#define ADIT_CLI_REVISION_H_

#include <string>

namespace adit::cli {

// The commit that this program was built from, with "-dirty" behind it where files had been changed since; empty where
// there was no repository. Written by cmake/revision.cmake at each build.
const char* Revision();
// Version and commit in one word: "0.1.0-828592b8e".
std::string BuildName();

}  // namespace adit::cli

#endif  // ADIT_CLI_REVISION_H_
