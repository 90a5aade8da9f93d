#ifndef ADIT_CLI_SSE_READER_H_
#define ADIT_CLI_SSE_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace adit::cli {

// Takes a stream of server-sent events apart as its bytes come (the HTML standard, "Parsing an event stream"): of each
// event the data, whose lines are joined by line feeds. Names, ids and comments are passed over. An event that has no
// end is none.
class SseReader {
 public:
  static constexpr size_t kMaxEventBytes = size_t{16} << 20;

  // Calls `on_data` for each event that these bytes complete. False, for good, when one is larger than kMaxEventBytes.
  bool Append(std::string_view bytes, const std::function<void(std::string_view)>& on_data);

 private:
  void EndLine(const std::function<void(std::string_view)>& on_data);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed here belongs to the line end before
  bool too_large_ = false;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_SSE_READER_H_
