#include "guard/word_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/utf8.h"

namespace adit::guard {
namespace {

// PCRE2 holds expressions of some 64 KiB when they are compiled.
constexpr size_t kMaxListedWordBytes = size_t{8} << 10;

// A character of a word as an expression. Blanks were made one.
std::string Quoted(std::string_view character) {
  if (character == " ") return "\\s+";
  const bool is_plain = character.size() > 1 || (character[0] >= '0' && character[0] <= '9') ||
                        ((character[0] | 0x20) >= 'a' && (character[0] | 0x20) <= 'z');
  return fmt::format("{}{}", is_plain ? "" : "\\", character);
}

// One blank for each run of white space, none at the ends.
std::string Tidy(std::string_view word) {
  std::string tidy;
  for (const char c : word) {
    const bool is_space = c == ' ' || (c >= '\t' && c <= '\r');
    if (!is_space) {
      tidy += c;
    } else if (!tidy.empty() && tidy.back() != ' ') {
      tidy += ' ';
    }
  }
  while (!tidy.empty() && tidy.back() == ' ') tidy.pop_back();
  return tidy;
}

// An expression for words, sorted, that are alike up to `at`: what they share is tried once.
std::string Factored(std::span<const std::string> words, size_t at) {
  std::vector<std::string> options;
  bool has_end = false;
  for (size_t i = 0; i < words.size();) {
    if (words[i].size() == at) {
      has_end = true;
      ++i;
      continue;
    }
    const std::string_view rest = std::string_view(words[i]).substr(at);
    const std::string_view character = rest.substr(0, DecodeUtf8(rest).length);
    size_t end = i + 1;
    while (end < words.size() && std::string_view(words[end]).substr(at).starts_with(character)) ++end;
    // A word alone needs no more levels.
    std::string option;
    if (end - i == 1) {
      for (std::string_view left = rest; !left.empty();) {
        const size_t length = DecodeUtf8(left).length;
        option += Quoted(left.substr(0, length));
        left.remove_prefix(length);
      }
    } else {
      size_t shared = at + character.size();
      option = Quoted(character);
      // What all of them share stands in a row.
      const std::string& first = words[i];
      const std::string& last = words[end - 1];
      while (shared < first.size()) {
        const std::string_view next = std::string_view(first).substr(shared);
        const std::string_view one = next.substr(0, DecodeUtf8(next).length);
        if (!std::string_view(last).substr(std::min(shared, last.size())).starts_with(one)) break;
        option += Quoted(one);
        shared += one.size();
      }
      option += Factored(words.subspan(i, end - i), shared);
    }
    options.push_back(std::move(option));
    i = end;
  }
  if (options.empty()) return "";
  return fmt::format("(?:{}){}", fmt::join(options, "|"), has_end ? "?" : "");
}

std::string Whole(std::span<const std::string> words) {
  return fmt::format("(?<![\\p{{L}}\\p{{N}}]){}(?![\\p{{L}}\\p{{N}}])", Factored(words, 0));
}

}  // namespace

std::vector<std::string> WordExpressions(std::span<const std::string> words) {
  std::set<std::string> unique;
  for (const std::string& word : words) {
    if (std::string tidy = Tidy(word); !tidy.empty()) unique.insert(std::move(tidy));
  }
  const std::vector<std::string> sorted(unique.begin(), unique.end());
  std::vector<std::string> expressions;
  size_t begin = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    bytes += sorted[i].size();
    if (i + 1 < sorted.size() && bytes + sorted[i + 1].size() <= kMaxListedWordBytes) continue;
    expressions.push_back(Whole(std::span(sorted).subspan(begin, i + 1 - begin)));
    begin = i + 1;
    bytes = 0;
  }
  return expressions;
}

}  // namespace adit::guard
