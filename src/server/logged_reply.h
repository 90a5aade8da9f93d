#ifndef ADIT_SERVER_LOGGED_REPLY_H_
#define ADIT_SERVER_LOGGED_REPLY_H_

#include <exception>
#include <memory>

#include "server/access_log.h"
#include "server/api_error.h"
#include "server/http_message.h"
#include "server/metrics.h"
#include "server/quotas.h"
#include "server/request_record.h"
#include "server/span_exporter.h"
#include "server/trace_log.h"

namespace adit::server {

// Where is written down what requests did.
struct ReplyBooks {
  AccessLog& log;
  Metrics& metrics;
  Quotas& quotas;
  TraceLog& trace;
  SpanExporter* spans;  // null: nobody is told
};

// Every reply goes through one of these: it adds the headers that all have, charges the key for tokens as they come,
// and tells log and metrics of the end. The books outlive it.
std::unique_ptr<Reply> MakeLoggedReply(std::shared_ptr<RequestRecord> record, std::unique_ptr<Reply> reply,
                                       const ReplyBooks& books);

// What is told of an exception of the libraries: a bug of ours.
ApiError ErrorOfException(const std::exception& failure);

}  // namespace adit::server

#endif  // ADIT_SERVER_LOGGED_REPLY_H_
