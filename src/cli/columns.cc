#include "cli/columns.h"

#include <algorithm>

namespace adit::cli {

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<bool> filled;
  for (size_t i = 0; i < rows.size(); ++i) {
    widths.resize(std::max(widths.size(), rows[i].size()));
    filled.resize(widths.size());
    for (size_t k = 0; k < rows[i].size(); ++k) {
      widths[k] = std::max(widths[k], rows[i][k].size());
      if (i > 0 && !rows[i][k].empty()) filled[k] = true;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t k = 0; k < row.size(); ++k) {
      if (filled[k]) line += row[k] + std::string(widths[k] - row[k].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace adit::cli
