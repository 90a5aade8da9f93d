#include "cli/saved_talk.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/atomic_file.h"
#include "formats/json.h"

namespace adit::cli {
namespace {

using TalkJson = formats::Json;

constexpr std::string_view kFormat = "adit talk";
constexpr int64_t kTalkVersion = 1;
// Three values for each turn, and those around them.
constexpr formats::JsonLimits kLimits = {
    .max_bytes = kMaxTalkBytes, .max_depth = 4, .max_values = 4 * kMaxTalkTurns + 16};

// Every member is known, so that nothing is lost unnoticed.
Status CheckMembers(const TalkJson& object, std::initializer_list<std::string_view> known, const std::string& where) {
  for (const auto& [key, value] : *object.AsObject()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Corrupt("{}: unknown member '{}'", where, key);
    }
  }
  return Status();
}

Result<std::string> StringMember(const TalkJson& object, std::string_view key, const std::string& where) {
  const TalkJson* member = object.Find(key);
  if (member == nullptr) return Corrupt("{}: no '{}'", where, key);
  if (member->AsString() == nullptr) return Corrupt("{}: '{}' is {}, wanted a string", where, key, member->KindName());
  return *member->AsString();
}

Status CheckHead(const TalkJson& root, const std::string& name) {
  const TalkJson* format = root.AsObject() == nullptr ? nullptr : root.Find("format");
  if (format == nullptr || format->AsString() == nullptr || *format->AsString() != kFormat) {
    return Corrupt("{}: no talk that /save wrote: \"format\" is not \"{}\"", name, kFormat);
  }
  const TalkJson* version = root.Find("version");
  if (version == nullptr || version->AsInt() == nullptr) return Corrupt("{}: no 'version' that is a number", name);
  if (*version->AsInt() != kTalkVersion) {
    return Unsupported("{}: version {}, this build reads {}", name, *version->AsInt(), kTalkVersion);
  }
  return CheckMembers(root, {"format", "version", "model", "system", "turns"}, name);
}

Result<std::vector<Turn>> TurnsOf(const TalkJson& root, const std::string& name) {
  const TalkJson* member = root.Find("turns");
  if (member == nullptr || member->AsArray() == nullptr) return Corrupt("{}: no 'turns' that are an array", name);
  if (member->AsArray()->size() > kMaxTalkTurns) {
    return ResourceExhausted("{}: {} turns, at most {} are read", name, member->AsArray()->size(), kMaxTalkTurns);
  }
  std::vector<Turn> turns;
  for (const TalkJson& turn : *member->AsArray()) {
    const std::string where = fmt::format("{}: turn {}", name, turns.size());
    if (turn.AsObject() == nullptr) return Corrupt("{} is {}, wanted an object", where, turn.KindName());
    ADIT_RETURN_IF_ERROR(CheckMembers(turn, {"user", "assistant"}, where));
    ADIT_ASSIGN_OR_RETURN(std::string text, StringMember(turn, "user", where));
    ADIT_ASSIGN_OR_RETURN(std::string answer, StringMember(turn, "assistant", where));
    turns.push_back({.text = std::move(text), .answer = std::move(answer)});
  }
  return turns;
}

Result<SavedTalk> SavedTalkOf(const TalkJson& root, const std::string& name) {
  ADIT_RETURN_IF_ERROR(CheckHead(root, name));
  SavedTalk talk;
  ADIT_ASSIGN_OR_RETURN(talk.model, StringMember(root, "model", name));
  if (const TalkJson* system = root.Find("system"); system != nullptr && !system->is_null()) {
    ADIT_ASSIGN_OR_RETURN(talk.system, StringMember(root, "system", name));
  }
  ADIT_ASSIGN_OR_RETURN(talk.turns, TurnsOf(root, name));
  return talk;
}

}  // namespace

std::string SavedTalkText(const SavedTalk& talk) {
  nlohmann::ordered_json root = {{"format", kFormat}, {"version", kTalkVersion}};
  root["model"] = ReplaceInvalidUtf8(talk.model);
  root["system"] = talk.system ? nlohmann::ordered_json(ReplaceInvalidUtf8(*talk.system)) : nlohmann::ordered_json();
  root["turns"] = nlohmann::ordered_json::array();
  for (const Turn& turn : talk.turns) {
    root["turns"].push_back({{"user", ReplaceInvalidUtf8(turn.text)}, {"assistant", ReplaceInvalidUtf8(turn.answer)}});
  }
  return root.dump(2) + "\n";
}

Result<SavedTalk> ParseSavedTalk(std::string_view text, const std::string& name) {
  ADIT_ASSIGN_OR_RETURN(const TalkJson root, TalkJson::Parse(text, name, kLimits));
  return SavedTalkOf(root, name);
}

Result<SavedTalk> ReadSavedTalk(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const TalkJson root, TalkJson::ReadFile(path, kLimits));
  return SavedTalkOf(root, path);
}

Status WriteSavedTalk(const SavedTalk& talk, const std::string& path) {
  const Result<SavedTalk> there = ReadSavedTalk(path);
  if (!there.ok() && there.status().code() != StatusCode::kNotFound) {
    return FailedPrecondition("{} is there and no saved talk: not overwritten", path);
  }
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(path, "talk"));
  const std::string text = SavedTalkText(talk);
  ADIT_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Finish();
}

}  // namespace adit::cli
