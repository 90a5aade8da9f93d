#include "cli/html_page.h"

#include <fmt/core.h>

#include "cli/svg_plot.h"

namespace adit::cli {
namespace {

// Colours of the series differ in lightness too, for those who do not tell the hues apart.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --page: #fcfcfb; --ink: #1a1a19; --soft: #5f5e58; --rule: #dcdad3;
  --s0: #1f6fc4; --s1: #d4570f; --s2: #0f8a6a; --s3: #8a4fc0; }
@media (prefers-color-scheme: dark) {
  :root { --page: #191918; --ink: #ececea; --soft: #a9a8a2; --rule: #3b3a37;
    --s0: #5ba3ee; --s1: #f0935a; --s2: #3fc29b; --s3: #b892e6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--page); color: var(--ink);
  font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1rem 0; padding: 0; }
.tiles div { border: 1px solid var(--rule); border-radius: .4rem; padding: .6rem .8rem; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.5rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { display: block; width: 100%; height: auto; max-width: 40rem; }
svg text { font: 11.5px system-ui, sans-serif; fill: var(--ink); }
.axis { stroke: var(--soft); } .grid { stroke: var(--rule); }
.reference { stroke: var(--soft); stroke-dasharray: 3 3; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .bar { stroke: none; }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); stroke-dasharray: 6 3; }
.line.s2 { stroke: var(--s2); stroke-dasharray: 2 2; } .line.s3 { stroke: var(--s3); stroke-dasharray: 9 3 2 3; }
.bar.s0 { fill: var(--s0); } .bar.s1 { fill: var(--s1); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
caption { text-align: left; color: var(--soft); font-size: .9rem; padding-bottom: .3rem; }
th, td { padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child { text-align: left; } thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; } td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
)css";

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view body) {
  const std::string escaped = EscapeHtml(title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<main>\n<h1>{}</h1>\n{}</main>\n</body>\n</html>\n",
      escaped, kStyle, escaped, body);
}

std::string Figure(const std::string& title, const std::string& svg) {
  if (svg.empty()) return {};
  return fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n", EscapeHtml(title), svg);
}

HtmlTable::HtmlTable(std::string_view caption, const std::vector<std::string>& heads) {
  html_ = fmt::format("<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>", EscapeHtml(caption));
  for (const std::string& head : heads) html_ += fmt::format("<th scope=\"col\">{}</th>", EscapeHtml(head));
  html_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::Row(std::string_view head, const std::vector<std::string>& cells, bool as_text) {
  html_ += fmt::format("<tr><th scope=\"row\">{}</th>", EscapeHtml(head));
  for (const std::string& cell : cells) {
    html_ += fmt::format("<td{}>{}</td>", as_text ? " class=\"text\"" : "", EscapeHtml(cell));
  }
  html_ += "</tr>\n";
}

}  // namespace adit::cli
