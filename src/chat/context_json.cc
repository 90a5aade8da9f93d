#include "chat/context_json.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "base/error.h"
#include "chat/container.h"
#include "chat/text.h"

namespace adit::chat {
namespace {

// Builds values as the parser meets them. Each open object or list has a level; its finished members wait in one
// common stack each for values and keys.
class ContextBuilder {
 public:
  ContextBuilder(Heap& heap, int max_depth) : heap_(heap), max_depth_(static_cast<size_t>(std::max(max_depth, 1))) {}

  bool null() { return Add(Value::None()); }
  bool boolean(bool value) { return Add(Value::Bool(value)); }
  bool number_integer(int64_t value) { return Add(Value::Int(value)); }
  bool number_unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX)) return Add(Value::Int(static_cast<int64_t>(value)));
    return Add(Value::BigInt(NewStr(heap_, std::to_string(value), false)));
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") != std::string::npos) return Add(Value::Float(value));
    return Add(Value::BigInt(NewStr(heap_, text, false)));
  }
  bool string(const std::string& value) { return Add(NewStr(heap_, value, levels_.size() != 1)); }
  bool binary(nlohmann::json::binary_t&) { return Fail(InvalidArgument("binary data")); }

  bool start_object(size_t) { return Open(true); }
  bool key(const std::string& key) {
    keys_.push_back(NewStr(heap_, key, levels_.size() != 1));
    return true;
  }
  bool end_object() { return Close(); }
  bool start_array(size_t) { return Open(false); }
  bool end_array() { return Close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    return Fail(InvalidArgument("chat template: the context is not valid JSON at byte {}", position));
  }

  const Status& status() const { return status_; }
  const Value& root() const { return root_; }

 private:
  struct Level {
    bool is_object = false;
    size_t first_value = 0;
    size_t first_key = 0;
  };

  bool Fail(Status status) {
    status_ = std::move(status);
    return false;
  }
  bool Add(const Value& value) {
    if (levels_.empty()) {
      root_ = value;
    } else {
      values_.push_back(value);
    }
    return true;
  }
  bool Open(bool is_object) {
    if (levels_.size() >= max_depth_) {
      return Fail(ResourceExhausted("chat template: the context is nested deeper than {} levels", max_depth_));
    }
    levels_.push_back({is_object, values_.size(), keys_.size()});
    return true;
  }
  bool Close();

  Heap& heap_;
  const size_t max_depth_;
  std::vector<Level> levels_;
  std::vector<Value> values_;
  std::vector<const Str*> keys_;
  std::vector<DictEntry> entries_;
  Value root_;
  Status status_;
};

bool ContextBuilder::Close() {
  const Level level = levels_.back();
  levels_.pop_back();
  const std::span<const Value> values = std::span(values_).subspan(level.first_value);
  Value made;
  if (level.is_object) {
    entries_.clear();
    for (size_t i = 0; i < values.size(); ++i) entries_.push_back({keys_[level.first_key + i], values[i]});
    Dict* dict = NewDict(heap_, entries_);
    dict->untrusted = true;
    made = dict;
    keys_.resize(level.first_key);
  } else {
    Sequence* list = NewSequence(heap_, SequenceType::kList, values);
    list->untrusted = true;
    made = list;
  }
  values_.resize(level.first_value);
  return Add(made);
}

}  // namespace

Result<const Dict*> ParseContext(std::string_view json, int max_depth, Heap& heap) {
  ContextBuilder builder(heap, max_depth);
  // With a handler of its own the parser reports errors to it and throws nothing but out of memory.
  nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
  ADIT_RETURN_IF_ERROR(builder.status());
  if (!builder.root().is(Kind::kDict)) {
    return InvalidArgument("chat template: the context is not a JSON object but of type {}", TypeName(builder.root()));
  }
  return builder.root().dict();
}

}  // namespace adit::chat
