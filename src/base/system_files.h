#ifndef ADIT_BASE_SYSTEM_FILES_H_
#define ADIT_BASE_SYSTEM_FILES_H_

#include <string>
#include <string_view>
#include <vector>

// Files in which Linux tells of itself. `root` stands for / where they are read, so that tests can show another
// machine.
namespace adit {

// Contents of a small file; empty when it cannot be read.
std::string ReadSystemFile(const std::string& path);

// A control group: its folder, and the version of the interface (1 or 2) that the names of its files are those of.
struct ControlGroup {
  std::string folder;
  int version = 2;
};

// The groups that this process is in and that `controller` ("cpu", "memory") may limit: of each version the process's
// own group before those around it. A folder need not be there: in a container those below the mount may be missing.
std::vector<ControlGroup> ControlGroupsOf(std::string_view controller, const std::string& root = "");

}  // namespace adit

#endif  // ADIT_BASE_SYSTEM_FILES_H_
