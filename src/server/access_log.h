#ifndef ADIT_SERVER_ACCESS_LOG_H_
#define ADIT_SERVER_ACCESS_LOG_H_

#include <mutex>
#include <string>

#include "server/request_record.h"

namespace adit::server {

enum class LogFormat : unsigned char { kNone, kText, kJson };

// A line for each request, on stderr or wherever `descriptor` leads, written at once and whole. Never what clients
// wrote or were told. Any thread.
class AccessLog {
 public:
  AccessLog(LogFormat format, int descriptor) : format_(format), descriptor_(descriptor) {}

  // `client_gone`: before all was sent; told as status 499.
  void Write(const RequestRecord& record, bool client_gone, double seconds);
  // Something else for whoever runs the server.
  void Note(const std::string& text);

 private:
  void WriteLine(const std::string& line);

  const LogFormat format_;
  const int descriptor_;
  std::mutex mutex_;  // around writes
};

// The line for a request, without its end.
std::string LogLine(const RequestRecord& record, bool client_gone, double seconds, LogFormat format,
                    const std::string& time);

}  // namespace adit::server

#endif  // ADIT_SERVER_ACCESS_LOG_H_
