#include "formats/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace adit::formats {
namespace {

class JsonTextWriter {
 public:
  explicit JsonTextWriter(bool indented) : indented_(indented) {}

  void Write(const Json& value, int level) {
    if (const Json::Object* object = value.AsObject(); object != nullptr) {
      WriteList('{', '}', object->size(), level, [&](size_t i) {
        WriteString((*object)[i].first);
        text_ += indented_ ? ": " : ":";
        Write((*object)[i].second, level + 1);
      });
    } else if (const Json::Array* array = value.AsArray(); array != nullptr) {
      WriteList('[', ']', array->size(), level, [&](size_t i) { Write((*array)[i], level + 1); });
    } else {
      WritePlain(value);
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  template <typename WriteElement>
  void WriteList(char open, char close, size_t count, int level, WriteElement write) {
    text_ += open;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ',';
      BreakLine(level + 1);
      write(i);
    }
    if (count > 0) BreakLine(level);
    text_ += close;
  }

  void BreakLine(int level) {
    if (!indented_) return;
    text_ += '\n';
    text_.append(static_cast<size_t>(level) * 2, ' ');
  }

  void WriteString(const std::string& value) { text_ += nlohmann::json(value).dump(); }

  void WritePlain(const Json& value) {
    if (const bool* flag = value.AsBool(); flag != nullptr) {
      text_ += *flag ? "true" : "false";
    } else if (const int64_t* integer = value.AsInt(); integer != nullptr) {
      text_ += std::to_string(*integer);
    } else if (const double* number = value.AsDouble(); number != nullptr) {
      if (std::isinf(*number)) {
        text_ += *number < 0.0 ? "-Infinity" : "Infinity";
      } else {
        text_ += nlohmann::json(*number).dump();
      }
    } else if (const std::string* string = value.AsString(); string != nullptr) {
      WriteString(*string);
    } else {
      text_ += "null";
    }
  }

  const bool indented_;
  std::string text_;
};

}  // namespace

std::string JsonText(const Json& value, bool indented) {
  JsonTextWriter writer(indented);
  writer.Write(value, 0);
  std::string text = writer.Take();
  if (indented) text += '\n';
  return text;
}

}  // namespace adit::formats
