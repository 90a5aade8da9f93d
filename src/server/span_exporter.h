#ifndef ADIT_SERVER_SPAN_EXPORTER_H_
#define ADIT_SERVER_SPAN_EXPORTER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "adit/status.h"
#include "server/request_record.h"

namespace adit::server {

struct SpanExporterOptions {
  std::string version;       // of this program
  double interval_s = 1.0;   // between two bodies
  double longest_s = 30.0;   // the same while a collector does not answer, to which it doubles
  size_t max_queued = 4096;  // spans that wait; the oldest go first
};

// Tells a collector of requests by OpenTelemetry's protocol (OTLP/HTTP 1, in JSON): a span for each that posts
// something, with children for what its time went into, named by the semantic conventions for generative AI. A request
// whose traceparent says that it is not sampled is not told. Never what clients wrote or were told. A thread of its own
// sends; nobody who answers waits for it. Any thread.
class SpanExporter {
 public:
  // Sends the body of an ExportTraceServiceRequest. Called by the exporter's thread alone.
  using Send = std::function<Status(const std::string& json)>;
  // Tells whoever runs the server that spans cannot be sent, or can again.
  using Note = std::function<void(const std::string& text)>;

  SpanExporter(SpanExporterOptions options, Send send, Note note);
  // Sends what waits, once.
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  // A request has ended, now.
  void NoteRequest(const RequestRecord& record, bool client_gone, double now_s);

  int64_t num_dropped() const;

 private:
  void Run();

  const SpanExporterOptions options_;
  const Send send_;
  const Note note_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<std::string> spans_;  // JSON of a request's spans, between commas
  int64_t num_dropped_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace adit::server

#endif  // ADIT_SERVER_SPAN_EXPORTER_H_
