#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"
#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {
namespace {

using formats::Quoted;

// Pieces by id while they are collected.
class Entries {
 public:
  explicit Entries(const std::string& where) : where_(where) {}

  Status Add(std::string_view piece, int64_t id) {
    if (id < 0 || id >= kMaxTokens) {
      return Corrupt("{}: token {} has id {}, wanted 0 to {}", where_, Quoted(piece), id, kMaxTokens - 1);
    }
    if (piece.size() > kMaxPieceBytes) {
      return Corrupt("{}: token {} has {} bytes, wanted at most {}", where_, id, piece.size(), kMaxPieceBytes);
    }
    const auto index = static_cast<size_t>(id);
    if (pieces_.size() <= index) {
      pieces_.resize(index + 1);
      known_.resize(index + 1);
    }
    if (known_[index] && pieces_[index] != piece) {
      return Corrupt("{}: id {} is that of {} and of {}", where_, id, Quoted(pieces_[index]), Quoted(piece));
    }
    pieces_[index] = piece;
    known_[index] = true;
    return Status();
  }

  size_t size() const { return pieces_.size(); }
  bool IsKnown(size_t id) const { return known_[id]; }

  // All in order of their ids; ids in between that no token has get an empty piece of type kUnused.
  Result<Vocabulary> Finish() const {
    if (pieces_.empty()) return Corrupt("{}: no tokens", where_);
    Vocabulary vocabulary;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      vocabulary.pieces.Add(pieces_[i]);
      vocabulary.types.push_back(known_[i] ? TokenType::kNormal : TokenType::kUnused);
      if (pieces_[i].empty()) continue;
      if (const int32_t first = vocabulary.pieces.Index(id); first >= 0) {
        return Corrupt("{}: tokens {} and {} are both {}, wanted each once", where_, first, id, Quoted(pieces_[i]));
      }
    }
    return vocabulary;
  }

 private:
  const std::string& where_;
  std::vector<std::string_view> pieces_;
  std::vector<bool> known_;
};

// Files of old versions leave the type out; each has a member that the others lack.
Result<std::string_view> ModelType(JsonValue model, const std::string& where) {
  if (!model.IsObject()) return Corrupt("{}: no object 'model'", where);
  std::string_view type;
  if (!model["type"].IsNull()) {
    ADIT_ASSIGN_OR_RETURN(type, StringOf(model, "type", where));
  } else if (!model["merges"].IsNull()) {
    type = "BPE";
  } else if (model["vocab"].IsArray()) {
    type = "Unigram";
  } else if (!model["max_input_chars_per_word"].IsNull()) {
    type = "WordPiece";
  } else {
    type = "WordLevel";
  }
  if (type != "BPE" && type != "Unigram" && type != "WordPiece" && type != "WordLevel") {
    return Unsupported("{}: model type {}, this build knows: BPE, Unigram, WordPiece, WordLevel", where, Quoted(type));
  }
  return type;
}

Status AddUnigramEntries(JsonValue vocab, const std::string& where, Entries& entries, std::vector<double>& scores) {
  return vocab.ForEach([&](JsonValue pair) -> Status {
    const auto id = static_cast<int64_t>(scores.size());
    JsonValue members[2];
    size_t n = 0;
    ADIT_RETURN_IF_ERROR(pair.ForEach([&](JsonValue member) {
      if (n < 2) members[n] = member;
      ++n;
      return Status();
    }));
    if (n != 2 || !members[0].IsString() || !members[1].IsNumber()) {
      return Corrupt("{}: entry {} of the model's 'vocab' is not a pair of text and score", where, id);
    }
    scores.push_back(members[1].Float());
    return entries.Add(members[0].String(), id);
  });
}

Status AddModelEntries(JsonValue model, const std::string& where, JsonVocabulary& out, Entries& entries) {
  if (out.model_type == "Unigram") {
    ADIT_ASSIGN_OR_RETURN(const JsonValue vocab, ArrayOf(model, "vocab", where));
    return AddUnigramEntries(vocab, where, entries, out.scores);
  }
  const JsonValue vocab = model["vocab"];
  if (!vocab.IsObject()) return Corrupt("{}: the model's 'vocab' is not an object", where);
  return vocab.ForEachMember([&](std::string_view piece, JsonValue id) -> Status {
    if (id.kind() != JsonKind::kInt) return Corrupt("{}: id of token {} is not a whole number", where, Quoted(piece));
    return entries.Add(piece, id.Int());
  });
}

Result<AddedToken> ParseAdded(JsonValue value, int64_t id, const std::string& where) {
  AddedToken token;
  ADIT_ASSIGN_OR_RETURN(const std::string_view content, StringOf(value, "content", where));
  token.content = content;
  token.id = static_cast<int32_t>(id);
  ADIT_ASSIGN_OR_RETURN(token.special, BoolOr(value, "special", false, where));
  ADIT_ASSIGN_OR_RETURN(token.normalized, BoolOr(value, "normalized", !token.special, where));
  ADIT_ASSIGN_OR_RETURN(token.match.single_word, BoolOr(value, "single_word", false, where));
  ADIT_ASSIGN_OR_RETURN(token.match.strips_left, BoolOr(value, "lstrip", false, where));
  ADIT_ASSIGN_OR_RETURN(token.match.strips_right, BoolOr(value, "rstrip", false, where));
  token.match.needs_trust = token.special;
  return token;
}

using AddedById = std::map<int64_t, AddedToken>;

Status AddAdded(JsonValue value, int64_t id, const std::string& where, Entries& entries, AddedById& added) {
  ADIT_ASSIGN_OR_RETURN(AddedToken token, ParseAdded(value, id, where));
  ADIT_RETURN_IF_ERROR(entries.Add(value["content"].String(), id));
  added.insert_or_assign(id, std::move(token));
  return Status();
}

Status AddAllAdded(JsonValue root, JsonValue config, const std::string& where, Entries& entries, AddedById& added) {
  if (!root["added_tokens"].IsNull()) {
    ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(root, "added_tokens", where));
    ADIT_RETURN_IF_ERROR(list.ForEach([&](JsonValue value) -> Status {
      ADIT_ASSIGN_OR_RETURN(const int64_t id, IntOr(value, "id", -1, where));
      return AddAdded(value, id, where, entries, added);
    }));
  }
  const JsonValue decoder = config["added_tokens_decoder"];
  if (!decoder.IsObject()) return Status();
  return decoder.ForEachMember([&](std::string_view key, JsonValue value) -> Status {
    int64_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size()) {
      return Corrupt("{}: 'added_tokens_decoder' of tokenizer_config.json: {} is no id", where, Quoted(key));
    }
    return AddAdded(value, id, where + ": 'added_tokens_decoder' of tokenizer_config.json", entries, added);
  });
}

// The id of the model's unknown token, or -1.
Result<int32_t> UnknownId(JsonValue model, const JsonVocabulary& out, const std::string& where) {
  if (out.model_type == "Unigram") {
    ADIT_ASSIGN_OR_RETURN(const int64_t id, IntOr(model, "unk_id", -1, where));
    if (id < -1 || id >= static_cast<int64_t>(out.scores.size())) {
      return Corrupt("{}: the model's 'unk_id' is {}, wanted 0 to {}", where, id, out.scores.size() - 1);
    }
    return static_cast<int32_t>(id);
  }
  ADIT_ASSIGN_OR_RETURN(const std::string_view text, StringOr(model, "unk_token", "", where));
  if (text.empty()) return -1;
  const int32_t id = out.vocabulary.pieces.Find(text);
  // A model of whole words has nothing else to fall back to; the others may name a token that they never need.
  return id;
}

bool HasByteFallback(JsonValue decoder) {
  if (!decoder.IsObject()) return false;
  if (decoder["type"].IsString() && decoder["type"].String() == "ByteFallback") return true;
  bool found = false;
  const Status status = decoder["decoders"].ForEach([&](JsonValue step) {
    found = found || HasByteFallback(step);
    return Status();
  });
  return found && status.ok();
}

void SetTypes(JsonValue root, JsonVocabulary& out) {
  std::vector<TokenType>& types = out.vocabulary.types;
  const JsonValue fallback = root["model"]["byte_fallback"];
  const bool bytes = (fallback.kind() == JsonKind::kBool && fallback.Bool()) || HasByteFallback(root["decoder"]);
  for (size_t i = 0; bytes && i < types.size(); ++i) {
    if (ByteOfPiece(out.vocabulary.pieces[static_cast<int32_t>(i)])) types[i] = TokenType::kByte;
  }
  for (const AddedToken& token : out.added) {
    const bool unknown = token.id == out.unknown;
    types[static_cast<size_t>(token.id)] = !token.special ? TokenType::kUserDefined
                                           : unknown      ? TokenType::kUnknown
                                                          : TokenType::kControl;
  }
}

}  // namespace

Result<JsonVocabulary> ParseVocabulary(JsonValue root, JsonValue config, const std::string& where) {
  JsonVocabulary out;
  const JsonValue model = root["model"];
  ADIT_ASSIGN_OR_RETURN(out.model_type, ModelType(model, where));
  Entries entries(where);
  ADIT_RETURN_IF_ERROR(AddModelEntries(model, where, out, entries));
  for (size_t i = 0; i < out.scores.size(); ++i) {
    if (!std::isfinite(out.scores[i])) return Corrupt("{}: the score of token {} is not finite", where, i);
  }
  for (size_t i = 0; i < entries.size(); ++i) out.in_model.push_back(entries.IsKnown(i));
  AddedById added;
  ADIT_RETURN_IF_ERROR(AddAllAdded(root, config, where, entries, added));
  out.in_model.resize(entries.size());
  out.scores.resize(entries.size());
  for (auto& [id, token] : added) out.added.push_back(std::move(token));
  ADIT_ASSIGN_OR_RETURN(out.vocabulary, entries.Finish());
  ADIT_ASSIGN_OR_RETURN(out.unknown, UnknownId(model, out, where));
  SetTypes(root, out);
  return out;
}

}  // namespace adit::tokenizer
