#include <algorithm>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using formats::Quoted;

// The ids that a template's special token stands for.
Status AppendSpecial(JsonValue processor, std::string_view name, const std::string& where, int64_t vocab_size,
                     std::vector<int32_t>& ids) {
  const JsonValue entry = processor["special_tokens"][name];
  ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(entry, "ids", where + ": special token " + Quoted(name)));
  return list.ForEach([&](JsonValue id) -> Status {
    if (id.kind() != JsonKind::kInt || id.Int() < 0 || id.Int() >= vocab_size) {
      return Corrupt("{}: special token {}: an id is not one of 0 to {}", where, Quoted(name), vocab_size - 1);
    }
    ids.push_back(static_cast<int32_t>(id.Int()));
    return Status();
  });
}

struct Ends {
  std::vector<int32_t> before;
  std::vector<int32_t> behind;
};

// "single" of a template: pieces {"SpecialToken": {"id": name}} and one {"Sequence": {"id": "A"}}.
Result<Ends> ParseTemplate(JsonValue processor, int64_t vocab_size, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(processor, "single", where));
  Ends ends;
  int num_texts = 0;
  ADIT_RETURN_IF_ERROR(list.ForEach([&](JsonValue piece) -> Status {
    if (piece["Sequence"].IsObject()) {
      ++num_texts;
      return Status();
    }
    ADIT_ASSIGN_OR_RETURN(const std::string_view name, StringOf(piece["SpecialToken"], "id", where));
    return AppendSpecial(processor, name, where, vocab_size, num_texts == 0 ? ends.before : ends.behind);
  }));
  if (num_texts != 1) return Unsupported("{}: the text stands {} times in 'single', wanted once", where, num_texts);
  return ends;
}

// A pair of text and id, as "cls" and "sep" are.
Result<int32_t> PairId(JsonValue processor, std::string_view key, int64_t vocab_size, const std::string& where) {
  int64_t id = -1;
  size_t n = 0;
  ADIT_RETURN_IF_ERROR(processor[key].ForEach([&](JsonValue member) {
    if (n++ == 1 && member.kind() == JsonKind::kInt) id = member.Int();
    return Status();
  }));
  if (n != 2 || id < 0 || id >= vocab_size) {
    return Corrupt("{}: '{}' is not a pair of text and an id from 0 to {}", where, key, vocab_size - 1);
  }
  return static_cast<int32_t>(id);
}

Result<Ends> ParseClsSep(JsonValue processor, int64_t vocab_size, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const int32_t cls, PairId(processor, "cls", vocab_size, where));
  ADIT_ASSIGN_OR_RETURN(const int32_t sep, PairId(processor, "sep", vocab_size, where));
  return Ends{{cls}, {sep}};
}

// The text of a role: "<s>", or {"content": "<s>"}.
std::string_view RoleText(JsonValue value) {
  if (value.IsObject()) value = value["content"];
  return value.IsString() ? value.String() : std::string_view();
}

std::optional<int32_t> RoleId(const SideFiles& files, std::string_view role, const Vocabulary& vocabulary) {
  for (const JsonValue file : {files.tokenizer_config, files.special_tokens_map}) {
    const std::string_view text = RoleText(file[role]);
    if (text.empty()) continue;
    if (const int32_t id = vocabulary.pieces.Find(text); id >= 0) return id;
  }
  return std::nullopt;
}

// Adds or takes away `id` at an end where tokenizer_config.json says so.
Status ApplyFlag(JsonValue config, std::string_view key, std::optional<int32_t> id, bool front,
                 std::vector<int32_t>& ids) {
  if (config[key].kind() != JsonKind::kBool) return Status();
  const bool there = id && !ids.empty() && (front ? ids.front() : ids.back()) == *id;
  if (config[key].Bool() == there) return Status();
  if (there) {
    ids.erase(front ? ids.begin() : ids.end() - 1);
    return Status();
  }
  if (!id) return Corrupt("tokenizer_config.json: '{}' is true, but no such token is known", key);
  ids.insert(front ? ids.begin() : ids.end(), *id);
  return Status();
}

// Ids of a member that is a number or a list of numbers; those outside the vocabulary are passed over.
void AppendIds(JsonValue value, int64_t vocab_size, std::vector<int32_t>& ids) {
  const auto add = [&](JsonValue id) {
    if (id.kind() == JsonKind::kInt && id.Int() >= 0 && id.Int() < vocab_size) {
      ids.push_back(static_cast<int32_t>(id.Int()));
    }
    return Status();
  };
  if (value.IsArray()) {
    const Status status = value.ForEach(add);
    static_cast<void>(status);
  } else {
    static_cast<void>(add(value));
  }
}

}  // namespace

Status ParsePostProcessor(JsonValue value, const Vocabulary& vocabulary, const std::string& where,
                          SpecialTokens& special) {
  if (value.IsNull()) return Status();
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, TypeOf(value, where));
  if (type == "ByteLevel") return Status();  // changes offsets alone
  if (type == "Sequence") {
    ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(value, "processors", where));
    return list.ForEach([&](JsonValue entry) { return ParsePostProcessor(entry, vocabulary, where, special); });
  }
  Result<Ends> ends = Ends{};
  if (type == "TemplateProcessing") {
    ends = ParseTemplate(value, vocabulary.size(), where);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    ends = ParseClsSep(value, vocabulary.size(), where);
  } else {
    return Unsupported(
        "{}: type {}, this build knows: BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing",
        where, Quoted(type));
  }
  if (!ends.ok()) return ends.status();
  constexpr size_t kMaxTokensAround = 1024;
  if (ends->before.size() + ends->behind.size() + special.before.size() + special.behind.size() > kMaxTokensAround) {
    return Unsupported("{}: more than {} tokens around a text", where, kMaxTokensAround);
  }
  special.before.insert(special.before.begin(), ends->before.begin(), ends->before.end());
  special.behind.insert(special.behind.end(), ends->behind.begin(), ends->behind.end());
  return Status();
}

Result<SpecialTokens> ParseSpecialTokens(JsonValue root, const SideFiles& files, const Vocabulary& vocabulary,
                                         const std::string& where) {
  SpecialTokens special;
  ADIT_RETURN_IF_ERROR(ParsePostProcessor(root["post_processor"], vocabulary, where + ": post_processor", special));
  special.bos = RoleId(files, "bos_token", vocabulary);
  special.eos = RoleId(files, "eos_token", vocabulary);
  special.unknown = RoleId(files, "unk_token", vocabulary);
  // Models that make embeddings call the two by other names.
  if (!special.bos) special.bos = RoleId(files, "cls_token", vocabulary);
  const std::optional<int32_t> sep = RoleId(files, "sep_token", vocabulary);
  ADIT_RETURN_IF_ERROR(ApplyFlag(files.tokenizer_config, "add_bos_token", special.bos, /*front=*/true, special.before));
  ADIT_RETURN_IF_ERROR(
      ApplyFlag(files.tokenizer_config, "add_eos_token", special.eos, /*front=*/false, special.behind));
  std::vector<int32_t> end_ids;
  if (special.eos) end_ids.push_back(*special.eos);
  if (!special.eos) special.eos = sep;
  AppendIds(files.generation_config["eos_token_id"], vocabulary.size(), end_ids);
  special.end_of_generation = EndOfGeneration(vocabulary, std::move(end_ids));
  return special;
}

}  // namespace adit::tokenizer
