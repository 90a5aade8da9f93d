#ifndef ADIT_STATUS_H_
#define ADIT_STATUS_H_

#include <cassert>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace adit {

// What the caller should do about an error; the message is for people.
enum class StatusCode {
  kOk,
  kInvalidArgument,     // The request or a flag is wrong: change it.
  kNotFound,            // The named thing is not there.
  kCorrupt,             // A file breaks its own format: get it again.
  kUnsupported,         // Valid, but this build cannot do it.
  kResourceExhausted,   // Does not fit in memory or over a limit.
  kFailedPrecondition,  // Not possible in the present state.
  kCancelled,           // The caller asked to stop.
  kDeadlineExceeded,    // Time ran out.
  kIo,                  // The operating system failed to read or write.
  kInternal,            // A bug of ours.
};

// Name of a code as users see it, e.g. "invalid argument".
std::string_view StatusCodeName(StatusCode code);

// Success, or a code and a message that says what, where, what was found and what would be right.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // "code: message", or "ok".
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}        // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!std::get<0>(state_).ok());
  }

  bool ok() const { return state_.index() == 1; }
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  // Precondition of the four accessors: ok().
  T& value() & { return *std::get_if<1>(&state_); }
  const T& value() const& { return *std::get_if<1>(&state_); }
  T&& value() && { return std::move(*std::get_if<1>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // For users of the C++ API who prefer exceptions; nothing under src/ calls it.
  T value_or_throw() && {
    if (!ok()) throw std::runtime_error(status().ToString());
    return std::move(*this).value();
  }

 private:
  std::variant<Status, T> state_;
};

}  // namespace adit

#define ADIT_STATUS_CONCAT_INNER_(a, b) a##b
#define ADIT_STATUS_CONCAT_(a, b) ADIT_STATUS_CONCAT_INNER_(a, b)

// Leaves the function with the error of `expr`, a Status, if it has one.
#define ADIT_RETURN_IF_ERROR(expr)                                                     \
  do {                                                                                 \
    if (::adit::Status adit_status_ = (expr); !adit_status_.ok()) return adit_status_; \
  } while (false)

// ADIT_ASSIGN_OR_RETURN(auto x, F()): x is the value of F()'s Result, or the function returns its error.
#define ADIT_ASSIGN_OR_RETURN(decl, expr) \
  ADIT_ASSIGN_OR_RETURN_(ADIT_STATUS_CONCAT_(adit_result_, __LINE__), decl, expr)
#define ADIT_ASSIGN_OR_RETURN_(result, decl, expr) \
  auto result = (expr);                            \
  if (!result.ok()) return result.status();        \
  decl = std::move(result).value()

#endif  // ADIT_STATUS_H_
