#include "quant/mix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "tensor/encode.h"

namespace adit::quant {
namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr size_t kMaxRules = 4096;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

Status Mix::Add(std::string_view rule) {
  const std::string_view text = Trimmed(rule);
  const size_t cut = text.find_last_of(" \t=");
  if (cut == std::string_view::npos || cut == 0) {
    return InvalidArgument("'{}' is no rule; wanted a regular expression and a type, as in 'ffn_down=q6_k'", text);
  }
  const std::string_view name = text.substr(cut + 1);
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype || EncodeFor(*dtype) == nullptr) return InvalidArgument("rule '{}': no type '{}' to write", text, name);
  if (rules_.size() == kMaxRules) return ResourceExhausted("more than {} rules", kMaxRules);
  std::string_view pattern = Trimmed(text.substr(0, cut));
  if (pattern.ends_with('=')) pattern = Trimmed(pattern.substr(0, pattern.size() - 1));
  ADIT_ASSIGN_OR_RETURN(tokenizer::Regex regex, tokenizer::Regex::Compile(std::string(pattern)));
  rules_.push_back(
      std::make_unique<Rule>(Rule{.pattern = std::string(pattern), .regex = std::move(regex), .dtype = *dtype}));
  return Status();
}

Status Mix::AddFile(const std::string& path, std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view rule = Trimmed(whole.substr(0, whole.find('#')));
    if (rule.empty()) continue;
    if (const Status added = Add(rule); !added.ok()) {
      return Status(added.code(), path + ":" + std::to_string(line) + ": " + added.message());
    }
  }
  return Status();
}

const DType* Mix::Find(std::string_view name) {
  for (std::unique_ptr<Rule>& rule : rules_) {
    tokenizer::Regex::Match match;
    if (!tokenizer::Regex::Matcher(rule->regex).Find(name, 0, match)) continue;
    rule->used = true;
    return &rule->dtype;
  }
  return nullptr;
}

std::vector<std::string> Mix::Unused() const {
  std::vector<std::string> patterns;
  for (const std::unique_ptr<Rule>& rule : rules_) {
    if (!rule->used) patterns.push_back(rule->pattern);
  }
  return patterns;
}

}  // namespace adit::quant
