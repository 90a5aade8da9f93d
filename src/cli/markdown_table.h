#ifndef ADIT_CLI_MARKDOWN_TABLE_H_
#define ADIT_CLI_MARKDOWN_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

namespace adit::cli {

// Rows of cells, the first one the heads, laid out so that the source reads as a table too. All columns but the first
// num_text_columns are numbers.
std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows, size_t num_text_columns = 1);

// On one line, and no column of its own.
std::string MarkdownCell(std::string_view text);

}  // namespace adit::cli

#endif  // ADIT_CLI_MARKDOWN_TABLE_H_
