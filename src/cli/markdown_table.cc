#include "cli/markdown_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/printable.h"

namespace adit::cli {

std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows, size_t num_text_columns) {
  std::vector<size_t> widths(rows.front().size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += i < num_text_columns ? fmt::format("| {:<{}} ", row[i], widths[i])
                                   : fmt::format("| {:>{}} ", row[i], widths[i]);
    }
    text += "|\n";
  };
  add_row(rows.front());
  for (size_t i = 0; i < widths.size(); ++i) {
    text += '|';
    text.append(widths[i] + (i < num_text_columns ? 2 : 1), '-');
    if (i >= num_text_columns) text += ':';
  }
  text += "|\n";
  for (size_t i = 1; i < rows.size(); ++i) add_row(rows[i]);
  return text;
}

std::string MarkdownCell(std::string_view text) {
  std::string cell;
  for (const char c : OneLine(text)) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace adit::cli
