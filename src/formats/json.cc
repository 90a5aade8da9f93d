#include "formats/json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "formats/mapped_file.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

// Objects of so few members find a repeated key by looking at all.
constexpr size_t kFewMembers = 16;

// Where an infinity stood, by the number of strings (keys too) before it.
struct Infinity {
  size_t string_index = 0;
  bool negative = false;
};

// `text` with every Infinity outside of strings replaced by a string of the same length, so that positions stay, and
// which strings these are. A lexer of its own for the little that is to be known: where strings begin and end.
std::string WithoutInfinities(std::string_view text, std::vector<Infinity>& infinities) {
  constexpr std::string_view kWord = "Infinity";
  std::string out(text);
  size_t num_strings = 0;
  for (size_t i = 0; i < out.size();) {
    if (out[i] == '"') {
      for (++i; i < out.size() && out[i] != '"'; ++i) {
        if (out[i] == '\\') ++i;
      }
      ++i;
      ++num_strings;
    } else if (out.compare(i, kWord.size(), kWord) == 0) {
      const bool negative = i > 0 && out[i - 1] == '-';
      const size_t begin = negative ? i - 1 : i;
      const size_t length = kWord.size() + (negative ? 1 : 0);
      out[begin] = '"';
      std::fill_n(out.begin() + static_cast<ptrdiff_t>(begin) + 1, length - 2, 'x');
      out[begin + length - 1] = '"';
      infinities.push_back({num_strings++, negative});
      i = begin + length;
    } else {
      ++i;
    }
  }
  return out;
}

// Builds the tree as the parser meets its parts. Open objects and arrays wait in levels_.
class TreeBuilder {
 public:
  TreeBuilder(const std::string& name, const JsonLimits& limits, std::vector<Infinity> infinities)
      : name_(name), limits_(limits), infinities_(std::move(infinities)) {}

  bool null() { return Add(Json()); }
  bool boolean(bool value) { return Add(Json(value)); }
  bool number_integer(int64_t value) { return Add(Json(value)); }
  bool number_unsigned(uint64_t value) {
    if (std::in_range<int64_t>(value)) return Add(Json(static_cast<int64_t>(value)));
    return Add(Json(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string&) { return Add(Json(value)); }
  bool string(std::string& value) {
    if (IsInfinity()) {
      const bool negative = infinities_[next_infinity_++].negative;
      const double infinity = std::numeric_limits<double>::infinity();
      return Add(Json(negative ? -infinity : infinity));
    }
    return Add(Json(std::move(value)));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON has none

  bool start_object(size_t) { return Open(Json(Json::Object())); }
  bool key(std::string& key) {
    if (IsInfinity()) return Fail(Corrupt("{}: Infinity as the name of a member", name_));
    keys_.push_back(std::move(key));
    return true;
  }
  bool end_object() {
    Json::Object& members = *levels_.back().AsObject();
    if (const std::string* twice = RepeatedKey(members); twice != nullptr) {
      return Fail(Corrupt("{}: key {} occurs twice in one object", name_, Quoted(*twice)));
    }
    return Close();
  }
  bool start_array(size_t) { return Open(Json(Json::Array())); }
  bool end_array() { return Close(); }
  bool parse_error(size_t position, const std::string& token, const nlohmann::json::exception&) {
    return Fail(Corrupt("{}: not JSON at byte {}, near {}", name_, position, Quoted(token)));
  }

  const Status& status() const { return status_; }
  Json TakeRoot() { return std::move(root_); }

 private:
  bool Fail(Status status) {
    status_ = std::move(status);
    return false;
  }

  // Counts a string of the text, and tells whether it stands for an infinity.
  bool IsInfinity() {
    const size_t index = num_strings_++;
    return next_infinity_ < infinities_.size() && infinities_[next_infinity_].string_index == index;
  }

  static const std::string* RepeatedKey(const Json::Object& members) {
    if (members.size() <= kFewMembers) {
      for (size_t i = 1; i < members.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (members[i].first == members[j].first) return &members[i].first;
        }
      }
      return nullptr;
    }
    std::unordered_set<std::string_view> seen;
    for (const auto& [key, value] : members) {
      if (!seen.insert(key).second) return &key;
    }
    return nullptr;
  }

  bool Add(Json value) {
    if (++num_values_ > limits_.max_values) {
      return Fail(ResourceExhausted("{}: more than {} JSON values", name_, limits_.max_values));
    }
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Json::Object* members = levels_.back().AsObject(); members != nullptr) {
      members->emplace_back(std::move(keys_.back()), std::move(value));
      keys_.pop_back();
    } else {
      levels_.back().AsArray()->push_back(std::move(value));
    }
    return true;
  }

  bool Open(Json container) {
    if (levels_.size() >= static_cast<size_t>(limits_.max_depth)) {
      return Fail(ResourceExhausted("{}: JSON nested deeper than {} levels", name_, limits_.max_depth));
    }
    levels_.push_back(std::move(container));
    return true;
  }

  bool Close() {
    Json closed = std::move(levels_.back());
    levels_.pop_back();
    return Add(std::move(closed));
  }

  const std::string& name_;
  const JsonLimits limits_;
  const std::vector<Infinity> infinities_;
  size_t next_infinity_ = 0;
  size_t num_strings_ = 0;
  size_t num_values_ = 0;
  std::vector<Json> levels_;
  std::vector<std::string> keys_;  // of the members that are being read, one for each open object at most
  Json root_;
  Status status_;
};

}  // namespace

Result<Json> Json::Parse(std::string_view text, const std::string& name, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return ResourceExhausted("{}: {} bytes of JSON, the limit is {}", name, text.size(), limits.max_bytes);
  }
  std::vector<Infinity> infinities;
  std::string replaced;
  if (limits.allow_infinity && text.find("Infinity") != std::string_view::npos) {
    replaced = WithoutInfinities(text, infinities);
    text = replaced;
  }
  TreeBuilder builder(name, limits, std::move(infinities));
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    if (!builder.status().ok()) return builder.status();
    return Corrupt("{}: not JSON", name);
  }
  return builder.TakeRoot();
}

Result<Json> Json::ReadFile(const std::string& path, const JsonLimits& limits) {
  ADIT_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file.bytes();
  return Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, limits);
}

const Json* Json::Find(std::string_view key) const {
  const Object* members = AsObject();
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [key](const auto& m) { return m.first == key; });
  return found == members->end() ? nullptr : &found->second;
}

std::string_view Json::KindName() const {
  constexpr std::string_view kNames[] = {"null",     "true or false", "an integer", "a number",
                                         "a string", "an array",      "an object"};
  return kNames[value_.index()];
}

}  // namespace adit::formats
