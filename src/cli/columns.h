#ifndef ADIT_CLI_COLUMNS_H_
#define ADIT_CLI_COLUMNS_H_

#include <string>
#include <vector>

namespace adit::cli {

// Rows of words as lines whose columns stand below each other, two spaces apart. Columns that are empty but for their
// title, the first row, are left out.
std::string Columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace adit::cli

#endif  // ADIT_CLI_COLUMNS_H_
