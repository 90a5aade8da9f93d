#include "guard/rules_file.h"

#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "guard/personal_data.h"
#include "guard/word_list.h"

namespace adit::guard {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr size_t kMaxRules = 256;
constexpr size_t kMaxWords = 10'000;
constexpr size_t kMaxWordBytes = 256;
constexpr size_t kMaxNameBytes = 64;
constexpr int64_t kMinMatchBytes = 64;
constexpr int64_t kMaxMatchBytes = 16'384;

Result<std::string> ReadFile(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) return Io("guard: '{}' is a folder", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return Io("guard: '{}': {}", path, std::strerror(errno));
  std::string text;
  text.resize(kMaxFileBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) return InvalidArgument("guard: '{}' is larger than {} bytes", path, kMaxFileBytes);
  return text;
}

// Names are labels of metrics and words of the log.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

std::string KindNames() {
  std::string names;
  for (const PersonalData& kind : PersonalDataKinds())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

class RulesReader {
 public:
  RulesReader(const std::string& file, const std::string& folder) : file_(file), folder_(folder) {}

  Result<std::shared_ptr<const Rules>> Read(const toml::table& document) {
    ADIT_RETURN_IF_ERROR(CheckKeys(document, {"rule", "max_match_bytes"}));
    if (const toml::node* node = document.get("max_match_bytes"); node != nullptr) {
      const std::optional<int64_t> bytes = node->value_exact<int64_t>();
      if (!bytes || *bytes < kMinMatchBytes || *bytes > kMaxMatchBytes) {
        return Wrong(*node,
                     fmt::format("'max_match_bytes' is a whole number in {}..{}", kMinMatchBytes, kMaxMatchBytes));
      }
      rules_->max_match_bytes = static_cast<size_t>(*bytes);
    }
    const toml::node* list = document.get("rule");
    if (list == nullptr || list->as_array() == nullptr || list->as_array()->empty()) {
      return InvalidArgument("guard: {}: there are no rules; each is a table [[rule]]", file_);
    }
    if (list->as_array()->size() > kMaxRules) {
      return InvalidArgument("guard: {}: {} rules; there may be {}", file_, list->as_array()->size(), kMaxRules);
    }
    for (const toml::node& node : *list->as_array()) {
      if (node.as_table() == nullptr) return Wrong(node, "a rule is a table [[rule]]");
      ADIT_RETURN_IF_ERROR(ReadRule(*node.as_table()));
    }
    return std::shared_ptr<const Rules>(std::move(rules_));
  }

 private:
  Status Wrong(const toml::node& node, const std::string& what) const {
    const std::string of = rule_.empty() ? "" : fmt::format(" rule '{}':", rule_);
    return InvalidArgument("guard: {}:{}:{} {}", file_, node.source().begin.line, of, what);
  }

  Status CheckKeys(const toml::table& table, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string names;
      for (const std::string_view name : known) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
      return Wrong(value, fmt::format("'{}' is not known; there are {}", key.str(), names));
    }
    return Status();
  }

  // A text of a rule; nothing where it is absent.
  Result<std::optional<std::string>> Text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::optional<std::string>();
    std::optional<std::string> text = node->value_exact<std::string>();
    if (!text) return Wrong(*node, fmt::format("'{}' is not a text", key));
    return text;
  }
  // One text or a list of them.
  Result<std::vector<std::string>> Texts(const toml::table& table, std::string_view key) const {
    std::vector<std::string> texts;
    const toml::node* node = table.get(key);
    if (node == nullptr) return texts;
    if (const auto one = node->value_exact<std::string>()) return std::vector<std::string>{*one};
    if (node->as_array() == nullptr) return Wrong(*node, fmt::format("'{}' is a text or a list of texts", key));
    for (const toml::node& entry : *node->as_array()) {
      std::optional<std::string> text = entry.value_exact<std::string>();
      if (!text) return Wrong(entry, fmt::format("'{}' holds something that is not a text", key));
      texts.push_back(*std::move(text));
    }
    return texts;
  }

  // One of a few words.
  template <typename T>
  Result<T> Word(const toml::table& table, std::string_view key, std::string_view otherwise,
                 std::initializer_list<std::pair<std::string_view, T>> words) const {
    ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> text, Text(table, key));
    std::string names;
    for (const auto& [name, value] : words) {
      if (text ? *text == name : otherwise == name) return value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    if (!text) return Wrong(table, fmt::format("'{}' is missing; it is one of {}", key, names));
    return Wrong(*table.get(key), fmt::format("'{}' is '{}'; it is one of {}", key, *text, names));
  }

  Status ReadRule(const toml::table& table) {
    rule_.clear();
    ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> name, Text(table, "name"));
    if (!name) return Wrong(table, "a rule has no 'name'");
    if (!IsName(*name)) {
      return Wrong(*table.get("name"),
                   fmt::format("a 'name' has 1 to {} letters, digits, '_', '-' and '.'", kMaxNameBytes));
    }
    rule_ = *name;
    ADIT_RETURN_IF_ERROR(
        CheckKeys(table, {"name", "action", "on", "regex", "words", "words_file", "pii", "case", "replacement"}));
    Rule rule{.name = *name};
    for (const Rule& other : rules_->rules) {
      if (other.name == rule.name) return Wrong(*table.get("name"), "another rule has this name");
    }
    ADIT_ASSIGN_OR_RETURN(
        rule.action, Word<Action>(table, "action", "",
                                  {{"block", Action::kBlock}, {"redact", Action::kRedact}, {"flag", Action::kFlag}}));
    ADIT_ASSIGN_OR_RETURN(const int sides, Word<int>(table, "on", "both", {{"input", 1}, {"output", 2}, {"both", 3}}));
    rule.on_input = (sides & 1) != 0;
    rule.on_output = (sides & 2) != 0;
    ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> replacement, Text(table, "replacement"));
    if (replacement && rule.action != Action::kRedact) {
      return Wrong(*table.get("replacement"), "'replacement' is for the action redact alone");
    }
    rule.replacement = replacement.value_or("[" + rule.name + "]");
    ADIT_RETURN_IF_ERROR(ReadMatchers(table, rule));
    rules_->rules.push_back(std::move(rule));
    return Status();
  }

  Status ReadMatchers(const toml::table& table, Rule& rule) const {
    const bool has_words = table.contains("words") || table.contains("words_file");
    if (int{table.contains("regex")} + int{has_words} + int{table.contains("pii")} != 1) {
      return Wrong(table, "has one of 'regex', 'words' (or 'words_file') and 'pii'");
    }
    if (table.contains("pii")) {
      rule.kind = "pii";
      if (table.contains("case")) return Wrong(*table.get("case"), "'case' is for 'regex' and 'words'");
      return ReadPii(table, rule);
    }
    ADIT_ASSIGN_OR_RETURN(const bool ignore_case, Word<bool>(table, "case", has_words ? "ignore" : "exact",
                                                             {{"ignore", true}, {"exact", false}}));
    rule.kind = has_words ? "words" : "regex";
    std::vector<std::string> expressions;
    if (has_words) {
      ADIT_ASSIGN_OR_RETURN(const std::vector<std::string> words, ReadWords(table));
      expressions = WordExpressions(words);
    } else {
      ADIT_ASSIGN_OR_RETURN(expressions, Texts(table, "regex"));
    }
    const toml::node& place = *table.get(!has_words ? "regex" : table.contains("words") ? "words" : "words_file");
    if (expressions.empty()) return Wrong(place, "there is nothing to look for");
    for (const std::string& expression : expressions) {
      ADIT_RETURN_IF_ERROR(AddMatcher(place, expression, ignore_case, nullptr, rule));
    }
    return Status();
  }

  Status AddMatcher(const toml::node& place, std::string_view expression, bool ignore_case, Check check,
                    Rule& rule) const {
    Result<std::shared_ptr<const Pattern>> pattern = Pattern::Compile(expression, ignore_case);
    if (!pattern.ok()) return Wrong(place, pattern.status().message());
    rule.matchers.push_back({.pattern = std::move(pattern).value(), .check = check});
    return Status();
  }

  Status ReadPii(const toml::table& table, Rule& rule) const {
    ADIT_ASSIGN_OR_RETURN(const std::vector<std::string> names, Texts(table, "pii"));
    const toml::node& place = *table.get("pii");
    if (names.empty()) return Wrong(place, "there is nothing to look for");
    for (const std::string& name : names) {
      const auto kinds = PersonalDataKinds();
      const auto kind =
          std::find_if(kinds.begin(), kinds.end(), [&name](const PersonalData& k) { return k.name == name; });
      if (kind == kinds.end()) return Wrong(place, fmt::format("'pii' is '{}'; there are {}", name, KindNames()));
      ADIT_RETURN_IF_ERROR(AddMatcher(place, kind->expression, /*ignore_case=*/false, kind->check, rule));
    }
    return Status();
  }

  Result<std::vector<std::string>> ReadWords(const toml::table& table) const {
    ADIT_ASSIGN_OR_RETURN(std::vector<std::string> words, Texts(table, "words"));
    ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> path, Text(table, "words_file"));
    const toml::node& place = *table.get(path ? "words_file" : "words");
    if (path) {
      Result<std::string> text = ReadFile((std::filesystem::path(folder_) / *path).string());
      if (!text.ok()) return Wrong(place, text.status().message());
      std::string_view left = *text;
      while (!left.empty()) {
        const std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(left.size(), line.size() + 1));
        if (!line.starts_with('#')) words.emplace_back(line);
      }
    }
    if (words.size() > kMaxWords)
      return Wrong(place, fmt::format("{} words; there may be {}", words.size(), kMaxWords));
    for (const std::string& word : words) {
      if (word.size() > kMaxWordBytes) return Wrong(place, fmt::format("a word has more than {} bytes", kMaxWordBytes));
      if (!IsValidUtf8(word)) return Wrong(place, "a word is not UTF-8");
    }
    return words;
  }

  const std::string& file_;
  const std::string& folder_;
  std::string rule_;  // the one that is read; empty: none
  std::shared_ptr<Rules> rules_ = std::make_shared<Rules>();
};

}  // namespace

Result<std::shared_ptr<const Rules>> ParseRules(std::string_view text, const std::string& name,
                                                const std::string& folder) {
  if (text.size() > kMaxFileBytes) return InvalidArgument("guard: {} is larger than {} bytes", name, kMaxFileBytes);
  if (!IsValidUtf8(text)) return InvalidArgument("guard: {}: not UTF-8", name);
  // Without exceptions this parser runs on past errors, into assertions of its own.
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return InvalidArgument("guard: {}:{}: {}", name, error.source().begin.line, error.description());
  }
  return RulesReader(name, folder).Read(document);
}

Result<std::shared_ptr<const Rules>> LoadRules(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseRules(text, path, std::filesystem::path(path).parent_path().string());
}

}  // namespace adit::guard
