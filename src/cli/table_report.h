#ifndef ADIT_CLI_TABLE_REPORT_H_
#define ADIT_CLI_TABLE_REPORT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "adit/status.h"
#include "cli/bench_report.h"

// What measurements of single things found: a row for each, and the four ways to tell them.
namespace adit::cli {

// A number that is not known is std::monostate.
using TableCell = std::variant<std::monostate, std::string, int64_t, double>;

struct TableColumn {
  std::string key;     // in JSON and CSV: "read_bytes_per_s"
  std::string label;   // for people: "read GB/s"; empty: not shown to them
  double scale = 1.0;  // makes what is shown of what is told
  int decimals = 0;
};

struct TableReport {
  std::string title;
  std::vector<BenchSetting> settings;  // of all rows; each row of JSON and CSV has them too
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<std::string> names;  // keys of the columns that name a row
  std::string bars;                // key of a column that the page shows as bars; empty: none
  double reference = 0.0;          // a line among the bars, in the scale of the column
};

enum class TableFormat : uint8_t { kMarkdown, kJson, kCsv, kHtml };

// Markdown: a table and what holds for all rows. JSON: an array with an object for each row. CSV: as RFC 4180 says.
// HTML: a page that needs nothing else.
std::string RenderTable(const TableReport& report, TableFormat format);

// The rows of `now` beside the same rows of an earlier JSON report: columns "before" and "ratio" of the number `key`
// are added. Rows are the same where their names are. InvalidArgument when `earlier` is no such
// report, or of another machine: where a setting named in `machine` differs.
Status CompareWith(const std::string& earlier, const std::string& key, const std::vector<std::string>& machine,
                   TableReport& now);

}  // namespace adit::cli

#endif  // ADIT_CLI_TABLE_REPORT_H_
