#ifndef ADIT_CHAT_BUILTIN_ARGS_H_
#define ADIT_CHAT_BUILTIN_ARGS_H_

#include <cstdint>
#include <string_view>

#include "adit/status.h"
#include "chat/builtin.h"
#include "chat/evaluator.h"
#include "chat/value.h"

// Reading the arguments of builtins. Where Python raises TypeError, InvalidArgument with the name of the argument.
namespace adit::chat {

// An integer or bool; `fallback` if the argument is absent.
Result<int64_t> IntArg(const Args& args, size_t index, int64_t fallback, std::string_view name);
// A string; null if the argument is absent or None.
Result<const Str*> StrArg(const Args& args, size_t index, std::string_view name);
// The truth of an argument of any type.
inline bool BoolArg(const Args& args, size_t index, bool fallback) {
  return args.has(index) ? IsTrue(args[index]) : fallback;
}

// A literal of ours as a trusted string.
const Str* Literal(Evaluator& eval, std::string_view text);
// A value that is a string already, else its text.
Result<const Str*> SoftStr(Evaluator& eval, const Value& value);

// Strings made of pieces, as a list.
Value ListOfStrings(Evaluator& eval, const std::vector<Str>& pieces, bool markup);

// "a.0.b": the attribute that filters look up in items, part by part, digits as an index. None leaves the item itself.
class AttributePath {
 public:
  static AttributePath Parse(Evaluator& eval, const Value& attribute);
  // With a `fallback` that is neither missing nor None, it stands for what is undefined.
  Result<Value> Get(Evaluator& eval, const Value& item, const Value& fallback) const;

 private:
  std::vector<Value> parts_;
};

// A string in lower case, another value as it is: for comparisons that ignore case.
Value IgnoreCase(Evaluator& eval, const Value& value);

}  // namespace adit::chat

#endif  // ADIT_CHAT_BUILTIN_ARGS_H_
