#ifndef ADIT_BASE_CHECK_H_
#define ADIT_BASE_CHECK_H_

namespace adit {

// Prints the condition and its place to stderr and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace adit

// For our own bugs only; never reachable from input. ADIT_CHECK is always on, ADIT_DCHECK in debug builds.
#define ADIT_CHECK(condition) ((condition) ? (void)0 : ::adit::CheckFailed(#condition, __FILE__, __LINE__))
#ifdef NDEBUG
#define ADIT_DCHECK(condition) ((void)sizeof(condition))
#else
#define ADIT_DCHECK(condition) ADIT_CHECK(condition)
#endif

#endif  // ADIT_BASE_CHECK_H_
