#include "tokenizer/json_document.h"

#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/error.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxNodes = size_t{1} << 26;

}  // namespace

// Appends nodes as the parser meets values; open arrays and objects wait on a stack for their end.
class JsonBuilder {
 public:
  JsonBuilder(JsonDocument& document, const std::string& name) : document_(document), name_(name) {}

  bool null() { return Add({JsonKind::kNull}); }
  bool boolean(bool value) { return Add({JsonKind::kBool, 0, value}); }
  bool number_integer(int64_t value) { return Add({JsonKind::kInt, 0, static_cast<uint64_t>(value)}); }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return number_float(static_cast<double>(value), {});
    }
    return Add({JsonKind::kInt, 0, value});
  }
  bool number_float(double value, const std::string&) {
    return Add({JsonKind::kFloat, 0, std::bit_cast<uint64_t>(value)});
  }
  bool string(const std::string& value) {
    std::string& strings = document_.strings_;
    const size_t offset = strings.size();
    const auto length = static_cast<uint32_t>(value.size());
    strings.append(reinterpret_cast<const char*>(&length), sizeof(length));
    strings.append(value);
    return Add({JsonKind::kString, 0, offset});
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(const std::string& value) { return string(value); }
  bool start_object(size_t) { return Open(JsonKind::kObject); }
  bool start_array(size_t) { return Open(JsonKind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    if (status_.ok()) status_ = Corrupt("{}: not JSON at byte {}", name_, position);
    return false;
  }

  const Status& status() const { return status_; }

 private:
  bool Add(JsonDocument::Node node) {
    if (document_.nodes_.size() >= kMaxNodes) {
      status_ = ResourceExhausted("{}: more than {} values", name_, kMaxNodes);
      return false;
    }
    if (!open_.empty()) ++document_.nodes_[open_.back()].value;
    document_.nodes_.push_back(node);
    return true;
  }
  bool Open(JsonKind kind) {
    if (open_.size() >= kMaxDepth) {
      status_ = ResourceExhausted("{}: nested deeper than {} levels", name_, kMaxDepth);
      return false;
    }
    if (!Add({kind})) return false;
    open_.push_back(document_.nodes_.size() - 1);
    return true;
  }
  bool Close() {
    JsonDocument::Node& node = document_.nodes_[open_.back()];
    node.end = static_cast<uint32_t>(document_.nodes_.size());
    if (node.kind == JsonKind::kObject) node.value /= 2;
    open_.pop_back();
    return true;
  }

  JsonDocument& document_;
  const std::string& name_;
  std::vector<size_t> open_;
  Status status_;
};

Result<JsonDocument> JsonDocument::Parse(std::string_view text, const std::string& name) {
  if (text.size() > kMaxBytes) {
    return ResourceExhausted("{}: {} bytes, this build reads up to {}", name, text.size(), kMaxBytes);
  }
  JsonDocument document;
  JsonBuilder builder(document, name);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return builder.status();
  return document;
}

JsonKind JsonValue::kind() const { return document_ == nullptr ? JsonKind::kMissing : document_->nodes_[index_].kind; }

bool JsonValue::Bool() const {
  ADIT_DCHECK(kind() == JsonKind::kBool);
  return document_->nodes_[index_].value != 0;
}

int64_t JsonValue::Int() const {
  ADIT_DCHECK(kind() == JsonKind::kInt);
  return static_cast<int64_t>(document_->nodes_[index_].value);
}

double JsonValue::Float() const {
  ADIT_DCHECK(IsNumber());
  if (kind() == JsonKind::kInt) return static_cast<double>(Int());
  return std::bit_cast<double>(document_->nodes_[index_].value);
}

std::string_view JsonValue::String() const {
  ADIT_DCHECK(IsString());
  const char* const at = document_->strings_.data() + document_->nodes_[index_].value;
  uint32_t length = 0;
  std::memcpy(&length, at, sizeof(length));
  return {at + sizeof(length), length};
}

size_t JsonValue::size() const { return IsArray() || IsObject() ? document_->nodes_[index_].value : 0; }

size_t JsonValue::FirstChild() const { return IsArray() || IsObject() ? index_ + 1 : 0; }

size_t JsonValue::End() const { return IsArray() || IsObject() ? document_->nodes_[index_].end : 0; }

size_t JsonValue::Next(size_t index) const {
  const JsonDocument::Node& node = document_->nodes_[index];
  return node.kind == JsonKind::kArray || node.kind == JsonKind::kObject ? node.end : index + 1;
}

JsonValue JsonValue::operator[](std::string_view key) const {
  JsonValue found;
  if (!IsObject()) return found;
  for (size_t i = FirstChild(); i < End(); i = Next(Next(i))) {
    if (At(i).String() == key) found = At(Next(i));
  }
  return found;
}

}  // namespace adit::tokenizer
