#include "eval/choice_task.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "formats/json.h"

namespace adit::eval {
namespace {

using formats::Json;

constexpr size_t kMostEndings = 26;
constexpr formats::JsonLimits kLimits = {.max_bytes = size_t{4} << 20, .max_depth = 16, .max_values = 10'000};

Result<const std::string*> Text(const Json& json, std::string_view key, const std::string& name) {
  const Json* value = json.Find(key);
  if (value == nullptr) return Corrupt("{}: no \"{}\"", name, key);
  if (value->AsString() == nullptr) return Corrupt("{}: \"{}\" is {}, wanted a string", name, key, value->KindName());
  return value->AsString();
}

Result<std::vector<std::string>> Texts(const Json& json, std::string_view key, const std::string& name) {
  const Json* value = json.Find(key);
  if (value == nullptr) return Corrupt("{}: no \"{}\"", name, key);
  const Json::Array* array = value->AsArray();
  if (array == nullptr) return Corrupt("{}: \"{}\" is {}, wanted an array", name, key, value->KindName());
  if (array->size() < 2 || array->size() > kMostEndings) {
    return Corrupt("{}: \"{}\" has {} elements, wanted 2 to {}", name, key, array->size(), kMostEndings);
  }
  std::vector<std::string> texts;
  for (const Json& element : *array) {
    if (element.AsString() == nullptr) {
      return Corrupt("{}: \"{}\" has {} among its elements, wanted strings", name, key, element.KindName());
    }
    texts.push_back(*element.AsString());
  }
  return texts;
}

// A number from 0, or as text, or a letter from A.
Result<size_t> Answer(const Json& json, std::string_view key, size_t count, const std::string& name) {
  const Json* value = json.Find(key);
  if (value == nullptr) return Corrupt("{}: no \"{}\"", name, key);
  std::optional<int64_t> answer;
  if (value->AsInt() != nullptr) answer = *value->AsInt();
  if (const std::string* text = value->AsString(); text != nullptr) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && end == text->data() + text->size()) answer = number;
    if (text->size() == 1 && (*text)[0] >= 'A' && (*text)[0] <= 'Z') answer = (*text)[0] - 'A';
  }
  if (!answer || *answer < 0 || *answer >= static_cast<int64_t>(count)) {
    return Corrupt("{}: \"{}\" names none of the {} answers", name, key, count);
  }
  return static_cast<size_t>(*answer);
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string_view Stripped(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// Without the marks of WikiHow: [title], [header], [step], ...
std::string WithoutMarks(std::string_view text) {
  std::string clean(Stripped(text));
  ReplaceAll(clean, " [title]", ". ");
  for (size_t begin = clean.find('['); begin != std::string::npos; begin = clean.find('[', begin)) {
    const size_t end = clean.find_first_of("]\n", begin);
    if (end == std::string::npos) break;
    if (clean[end] == ']') {
      clean.erase(begin, end + 1 - begin);
    } else {
      ++begin;
    }
  }
  std::string out;
  // Two spaces become one, from the left, once.
  for (size_t i = 0; i < clean.size(); ++i) {
    out += clean[i];
    if (clean[i] == ' ' && i + 1 < clean.size() && clean[i + 1] == ' ') ++i;
  }
  return out;
}

// The first letter a capital, the others small, where they are ASCII.
std::string Capitalised(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if (c < 128) out[i] = static_cast<char>(i == 0 ? std::toupper(c) : std::tolower(c));
  }
  return out;
}

Result<std::string> HellaSwagContext(const Json& json, const std::string& name) {
  std::string context;
  if (json.Find("ctx_a") != nullptr && json.Find("ctx_b") != nullptr) {
    ADIT_ASSIGN_OR_RETURN(const std::string* a, Text(json, "ctx_a", name));
    ADIT_ASSIGN_OR_RETURN(const std::string* b, Text(json, "ctx_b", name));
    context = *a + " " + Capitalised(*b);
  } else {
    ADIT_ASSIGN_OR_RETURN(const std::string* all, Text(json, "ctx", name));
    context = *all;
  }
  if (json.Find("activity_label") != nullptr) {
    ADIT_ASSIGN_OR_RETURN(const std::string* label, Text(json, "activity_label", name));
    context = *label + ": " + context;
  }
  return WithoutMarks(context);
}

}  // namespace

Result<ChoiceItem> ParseHellaSwag(std::string_view line, const std::string& name) {
  ADIT_ASSIGN_OR_RETURN(const Json json, Json::Parse(line, name, kLimits));
  ChoiceItem item;
  ADIT_ASSIGN_OR_RETURN(item.context, HellaSwagContext(json, name));
  ADIT_ASSIGN_OR_RETURN(item.endings, Texts(json, "endings", name));
  for (std::string& ending : item.endings) ending = WithoutMarks(ending);
  ADIT_ASSIGN_OR_RETURN(item.answer, Answer(json, "label", item.endings.size(), name));
  return item;
}

Result<ChoiceItem> ParseMmlu(std::string_view line, const std::string& name) {
  ADIT_ASSIGN_OR_RETURN(const Json json, Json::Parse(line, name, kLimits));
  ADIT_ASSIGN_OR_RETURN(const std::string* question, Text(json, "question", name));
  ADIT_ASSIGN_OR_RETURN(const std::vector<std::string> choices, Texts(json, "choices", name));
  ChoiceItem item;
  item.context = std::string(Stripped(*question)) + "\n";
  for (size_t i = 0; i < choices.size(); ++i) {
    const std::string letter(1, static_cast<char>('A' + i));
    item.context.append(letter).append(". ").append(choices[i]).append("\n");
    item.endings.push_back(letter);
  }
  item.context += "Answer:";
  ADIT_ASSIGN_OR_RETURN(item.answer, Answer(json, "answer", choices.size(), name));
  return item;
}

std::string AsExample(const ChoiceItem& item) { return item.context + " " + item.endings[item.answer] + "\n\n"; }

Status ChoiceTask::Ask(const ChoiceItem& item, ChoiceScore& score) {
  const tokenizer::Tokenizer& tokenizer = runner_.model().tokenizer();
  const std::string context = examples_ + item.context;
  const std::vector<int32_t> before = tokenizer.Encode(context, false, true);
  std::vector<std::vector<int32_t>> all;
  size_t shared = before.size();  // tokens that all endings begin with
  int64_t longest = 0;
  for (const std::string& ending : item.endings) {
    all.push_back(tokenizer.Encode(context + " " + ending, false, true));
    const auto [a, b] = std::mismatch(before.begin(), before.end(), all.back().begin(), all.back().end());
    shared = std::min({shared, static_cast<size_t>(a - before.begin()), all.back().size() - 1});
    const auto size = static_cast<int64_t>(all.back().size());
    longest = std::max(longest, size);
    if (size > runner_.kv_capacity_tokens()) {
      return InvalidArgument("an item has {} tokens, the context is {}; --ctx sets it", size,
                             runner_.kv_capacity_tokens());
    }
  }
  if (shared == 0) return InvalidArgument("an item without a context: there is no token to begin with");
  // Pages behind a window are gone once an ending has been run.
  const kv::PageGroups groups = runner_.page_groups();
  const bool can_go_back =
      std::all_of(groups.windows.begin(), groups.windows.end(), [](int64_t window) { return window == 0; });
  const bool is_long = runner_.model().spec().IsLong(longest);
  std::optional<engine::SequenceCache> sequence;
  std::vector<double> sums;
  for (const std::vector<int32_t>& tokens : all) {
    if (!sequence || !can_go_back) sequence.emplace(runner_.NewSequence());
    sequence->Truncate(std::min<int64_t>(sequence->num_tokens(), static_cast<int64_t>(shared) - 1));
    ADIT_ASSIGN_OR_RETURN(const double sum, LogLikelihood(*sequence, tokens, shared, is_long));
    sums.push_back(sum);
  }
  std::vector<double> by_byte = sums;
  for (size_t i = 0; i < by_byte.size(); ++i) {
    by_byte[i] /= static_cast<double>(std::max<size_t>(item.endings[i].size(), 1));
  }
  const auto is_right = [&](const std::vector<double>& values) {
    return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin()) == item.answer;
  };
  score.accuracy.Add(is_right(sums) ? 1.0 : 0.0);
  score.normalised_accuracy.Add(is_right(by_byte) ? 1.0 : 0.0);
  return Status();
}

Result<double> ChoiceTask::LogLikelihood(engine::SequenceCache& sequence, const std::vector<int32_t>& tokens,
                                         size_t begin, bool is_long) {
  const auto vocab_size = static_cast<size_t>(runner_.model().spec().vocab_size);
  const auto most = static_cast<size_t>(runner_.max_batch_tokens());
  double sum = 0.0;
  size_t position = static_cast<size_t>(sequence.num_tokens());
  while (position + 1 < tokens.size()) {
    // Position begin - 1 gives the first of the logits.
    const bool is_scored = position + 1 >= begin;
    const size_t end = std::min(is_scored ? tokens.size() - 1 : begin - 1, position + most);
    const engine::SequenceStep step{.sequence = &sequence,
                                    .tokens = std::span(tokens).subspan(position, end - position),
                                    .is_long = is_long,
                                    .logits = is_scored ? engine::LogitsWanted::kAll : engine::LogitsWanted::kNone};
    ADIT_ASSIGN_OR_RETURN(const std::span<const float> logits, runner_.Run(std::span(&step, 1)));
    for (size_t i = position; is_scored && i < end; ++i) {
      const std::span<const float> row = logits.subspan((i - position) * vocab_size, vocab_size);
      sum += static_cast<double>(row[static_cast<size_t>(tokens[i + 1])]) - LogSumExp(row);
    }
    position = end;
  }
  return sum;
}

}  // namespace adit::eval
