#ifndef ADIT_CLI_HTML_PAGE_H_
#define ADIT_CLI_HTML_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Pages that need nothing else: style inside, for light and dark, for wide and narrow screens.
namespace adit::cli {

// `body` is HTML, below a heading with the title; `title` is text. The style has "tiles", "plots", "wide", and the
// classes of svg_plot.h.
std::string HtmlPage(std::string_view title, std::string_view body);

// A plot with its title above; empty without a plot.
std::string Figure(const std::string& title, const std::string& svg);

// A table whose columns but the first are numbers. Cells are plain text.
class HtmlTable {
 public:
  HtmlTable(std::string_view caption, const std::vector<std::string>& heads);
  void Row(std::string_view head, const std::vector<std::string>& cells, bool as_text = false);
  std::string Close() { return std::move(html_) + "</tbody>\n</table></div>\n"; }

 private:
  std::string html_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_HTML_PAGE_H_
