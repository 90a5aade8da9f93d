#include "cli/sse_reader.h"

namespace adit::cli {

bool SseReader::Append(std::string_view bytes, const std::function<void(std::string_view)>& on_data) {
  while (!bytes.empty() && !too_large_) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_return_ = false;
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    too_large_ = line_.size() + data_.size() > kMaxEventBytes;
    if (end == std::string_view::npos || too_large_) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    EndLine(on_data);
  }
  return !too_large_;
}

void SseReader::EndLine(const std::function<void(std::string_view)>& on_data) {
  if (line_.empty()) {
    if (has_data_) on_data(data_);
    data_.clear();
    has_data_ = false;
    return;
  }
  constexpr std::string_view kData = "data";
  const std::string_view line = line_;
  const size_t colon = line.find(':');
  if (line.substr(0, colon) == kData) {
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
}

}  // namespace adit::cli
