#include "base/system_files.h"

#include <algorithm>
#include <fstream>

namespace adit {
namespace {

// Files of the system are small; what is longer is not one of them.
constexpr size_t kMaxFileBytes = size_t{1} << 22;

// Whether `name` is one of the names between commas.
bool Names(std::string_view list, std::string_view name) {
  while (true) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == name) return true;
    if (end == list.size()) return false;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

std::string ReadSystemFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[4096];
  while (file.read(buffer, sizeof(buffer)) || file.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) break;
  }
  return text;
}

// A line of /proc/self/cgroup is "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
std::vector<ControlGroup> ControlGroupsOf(std::string_view controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  const std::string text = ReadSystemFile(root + "/proc/self/cgroup");
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !Names(controllers, controller)) continue;
    const int version = controllers.empty() ? 2 : 1;
    const std::string mount = root + "/sys/fs/cgroup" + (version == 1 ? "/" + std::string(controller) : "");
    std::string path(line.substr(second + 1));
    if (path == "/") path.clear();
    while (true) {
      groups.push_back({.folder = mount + path, .version = version});
      if (path.empty()) break;
      const size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  return groups;
}

}  // namespace adit
