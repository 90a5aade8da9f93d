#include "cli/table_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/html_page.h"
#include "cli/markdown_table.h"
#include "cli/printable.h"
#include "cli/svg_plot.h"

namespace adit::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string CellText(const TableCell& cell, const TableColumn& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<int64_t>(&cell)) {
    return FormatNumber(static_cast<double>(*count) * column.scale, column.decimals);
  }
  if (const auto* number = std::get_if<double>(&cell)) return FormatNumber(*number * column.scale, column.decimals);
  return "-";
}

std::vector<size_t> ShownColumns(const TableReport& report) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < report.columns.size(); ++i) {
    if (!report.columns[i].label.empty()) shown.push_back(i);
  }
  return shown;
}

// How many of the shown columns, from the first on, hold text.
size_t NumTextColumns(const TableReport& report, const std::vector<size_t>& shown) {
  size_t count = 0;
  while (count < shown.size() && !report.rows.empty() &&
         std::holds_alternative<std::string>(report.rows.front()[shown[count]])) {
    ++count;
  }
  return std::max<size_t>(1, count);
}

std::string Markdown(const TableReport& report) {
  const std::vector<size_t> shown = ShownColumns(report);
  std::vector<std::vector<std::string>> rows(1);
  for (const size_t i : shown) rows.front().push_back(MarkdownCell(report.columns[i].label));
  for (const auto& row : report.rows) {
    rows.emplace_back();
    for (const size_t i : shown) rows.back().push_back(MarkdownCell(CellText(row[i], report.columns[i])));
  }
  std::string text =
      fmt::format("# {}\n\n{}\n", OneLine(report.title), MarkdownTable(rows, NumTextColumns(report, shown)));
  std::vector<std::vector<std::string>> settings = {{"setting", "value"}};
  for (const BenchSetting& setting : report.settings) {
    settings.push_back({LabelOf(setting.key), MarkdownCell(SettingText(setting))});
  }
  return text + MarkdownTable(settings, 2);
}

OrderedJson ToJson(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }
OrderedJson ToJson(const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<int64_t>(&cell)) return *count;
  if (const auto* number = std::get_if<double>(&cell)) return ToJson(*number);
  return nullptr;
}
OrderedJson ToJson(const BenchSetting& setting) {
  if (const auto* number = std::get_if<double>(&setting.value)) return ToJson(*number);
  return std::visit([](const auto& value) { return OrderedJson(value); }, setting.value);
}

std::string JsonText(const TableReport& report) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : report.rows) {
    OrderedJson object = OrderedJson::object();
    for (size_t i = 0; i < row.size(); ++i) object[report.columns[i].key] = ToJson(row[i]);
    for (const BenchSetting& setting : report.settings) {
      if (!object.contains(setting.key)) object[setting.key] = ToJson(setting);
    }
    rows.push_back(std::move(object));
  }
  return rows.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Csv(const TableReport& report) {
  std::string text;
  for (const TableColumn& column : report.columns) text += CsvField(column.key) + ",";
  for (const BenchSetting& setting : report.settings) text += CsvField(setting.key) + ",";
  text.back() = '\n';
  for (const auto& row : report.rows) {
    for (const TableCell& cell : row) {
      const OrderedJson json = ToJson(cell);
      text += CsvField(json.is_null() ? "" : json.is_string() ? json.get<std::string>() : json.dump()) + ",";
    }
    for (const BenchSetting& setting : report.settings) text += CsvField(SettingText(setting)) + ",";
    text.back() = '\n';
  }
  return text;
}

// Its names, with what counts are of.
std::string RowLabel(const TableReport& report, const std::vector<TableCell>& row) {
  std::string label;
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::find(report.names.begin(), report.names.end(), report.columns[i].key) == report.names.end()) continue;
    const bool is_text = std::holds_alternative<std::string>(row[i]);
    if (!label.empty()) label += ", ";
    label += is_text ? CellText(row[i], report.columns[i])
                     : report.columns[i].label + " " + CellText(row[i], report.columns[i]);
  }
  return label;
}

std::string Bars(const TableReport& report) {
  const auto column = std::find_if(report.columns.begin(), report.columns.end(),
                                   [&](const TableColumn& candidate) { return candidate.key == report.bars; });
  if (column == report.columns.end()) return {};
  const auto index = static_cast<size_t>(column - report.columns.begin());
  std::vector<PlotBar> bars;
  for (const auto& row : report.rows) {
    const auto* number = std::get_if<double>(&row[index]);
    if (number == nullptr || !std::isfinite(*number)) continue;
    bars.push_back(
        {.label = RowLabel(report, row), .value = *number * column->scale, .text = CellText(row[index], *column)});
  }
  return "<div class=\"plots\">\n" + Figure(column->label, SvgBars(column->label, bars, report.reference)) + "</div>\n";
}

std::string Html(const TableReport& report) {
  const std::vector<size_t> shown = ShownColumns(report);
  std::vector<std::string> heads;
  for (const size_t i : shown) heads.push_back(report.columns[i].label);
  HtmlTable table("Each row is one measurement", heads);
  for (const auto& row : report.rows) {
    std::vector<std::string> cells;
    for (const size_t i : shown) cells.push_back(CellText(row[i], report.columns[i]));
    table.Row(cells.front(), {cells.begin() + 1, cells.end()});
  }
  HtmlTable settings("Settings", {"setting", "value"});
  for (const BenchSetting& setting : report.settings) {
    settings.Row(LabelOf(setting.key), {SettingText(setting)}, /*as_text=*/true);
  }
  return HtmlPage(report.title,
                  Bars(report) + "<h2>Numbers</h2>\n" + table.Close() + "<h2>How it was run</h2>\n" + settings.Close());
}

}  // namespace

std::string RenderTable(const TableReport& report, TableFormat format) {
  switch (format) {
    case TableFormat::kMarkdown:
      return Markdown(report);
    case TableFormat::kJson:
      return JsonText(report);
    case TableFormat::kCsv:
      return Csv(report);
    case TableFormat::kHtml:
      return Html(report);
  }
  return {};
}

Status CompareWith(const std::string& earlier, const std::string& key, const std::vector<std::string>& machine,
                   TableReport& now) {
  const OrderedJson before = OrderedJson::parse(earlier, nullptr, /*allow_exceptions=*/false);
  if (!before.is_array() || before.empty() || !before.front().is_object()) {
    return InvalidArgument("--compare: not a JSON report of this command; make one with '-o json'");
  }
  for (const std::string& name : machine) {
    const auto setting = std::find_if(now.settings.begin(), now.settings.end(),
                                      [&](const BenchSetting& candidate) { return candidate.key == name; });
    if (setting == now.settings.end() || !before.front().contains(name)) continue;
    if (before.front()[name] != ToJson(*setting)) {
      return InvalidArgument("--compare: that report is of another machine: {} {} there, {} here", LabelOf(name),
                             OneLine(before.front()[name].dump(), 100), SettingText(*setting));
    }
  }
  size_t number = 0;
  while (number < now.columns.size() && now.columns[number].key != key) ++number;
  const TableColumn& column = now.columns[number];
  now.columns.push_back({key + "_before", column.label + " before", column.scale, column.decimals});
  now.columns.push_back({"ratio", "ratio", 1.0, 3});
  for (auto& row : now.rows) {
    const auto is_same = [&](const OrderedJson& object) {
      return object.is_object() && std::all_of(now.names.begin(), now.names.end(), [&](const std::string& name) {
               size_t i = 0;
               while (i < row.size() && now.columns[i].key != name) ++i;
               return i < row.size() && object.contains(name) && object[name] == ToJson(row[i]);
             });
    };
    const auto found = std::find_if(before.begin(), before.end(), is_same);
    const double* value = std::get_if<double>(&row[number]);
    if (found == before.end() || !found->contains(key) || !(*found)[key].is_number() || value == nullptr) {
      row.insert(row.end(), 2, TableCell());
      continue;
    }
    const double old = (*found)[key].get<double>();
    row.push_back(old);
    row.push_back(old > 0.0 ? TableCell(*value / old) : TableCell());
  }
  return Status();
}

}  // namespace adit::cli
