#ifndef ADIT_SERVER_TRACE_CONTEXT_H_
#define ADIT_SERVER_TRACE_CONTEXT_H_

#include <string>
#include <string_view>

namespace adit::server {

// Where a request belongs in a distributed trace (W3C Trace Context, level 1).
struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits, in lower case; empty: it begins a trace
  std::string parent_id;  // 16: the caller's span
  bool sampled = true;    // whether the caller wants it told
};

// From a header traceparent, "00-TRACE-PARENT-FLAGS"; what is no such thing begins a trace, as the standard has it.
TraceContext ParseTraceParent(std::string_view header);

}  // namespace adit::server

#endif  // ADIT_SERVER_TRACE_CONTEXT_H_
