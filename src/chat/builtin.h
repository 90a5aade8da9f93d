#ifndef ADIT_CHAT_BUILTIN_H_
#define ADIT_CHAT_BUILTIN_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "adit/status.h"
#include "chat/value.h"

// Filters, tests, methods and global functions: how they are declared, found and given their arguments.
namespace adit::chat {

struct KeywordArg {
  const Str* name = nullptr;
  Value value;
};

struct CallArgs {
  std::span<const Value> positional;
  std::span<const KeywordArg> keywords;
};

// Arguments by the place of their parameter; kMissing where none was given.
struct Args {
  static constexpr size_t kMaxParams = 6;
  std::array<Value, kMaxParams> values;
  CallArgs raw;  // all of them, for builtins that take any number

  const Value& operator[](size_t index) const { return values[index]; }
  bool has(size_t index) const { return !values[index].is_missing(); }
};

// `self` is the input of a filter or test, the object of a method, kMissing for a global function.
using BuiltinFn = Result<Value> (*)(Evaluator& eval, const Value& self, const Args& args);

struct Builtin {
  std::string_view name;
  // Names of the parameters with commas between them; "_" cannot be given by keyword; "*" takes any arguments.
  std::string_view params;
  int num_required;
  BuiltinFn call;
};

// Null if there is none.
const Builtin* FindFilter(std::string_view name);
const Builtin* FindTest(std::string_view name);
const Builtin* FindGlobal(std::string_view name);
// The method that values of this kind have; sequences differ by type.
const Builtin* FindMethod(const Value& object, std::string_view name);

// Why a filter that Jinja has is not in this dialect; empty for other names.
std::string_view RefusedFilter(std::string_view name);

// The tables that the functions above search, each in a file of its own subject.
std::span<const Builtin> TextFilters();
std::span<const Builtin> LayoutFilters();
std::span<const Builtin> MarkupFilters();
std::span<const Builtin> NumberFilters();
std::span<const Builtin> SequenceFilters();
std::span<const Builtin> AggregateFilters();
std::span<const Builtin> SelectFilters();
std::span<const Builtin> TypeTests();
std::span<const Builtin> CompareTests();
std::span<const Builtin> StringSearchMethods();
std::span<const Builtin> StringSplitMethods();
std::span<const Builtin> StringCaseMethods();
std::span<const Builtin> StringLayoutMethods();
std::span<const Builtin> DictMethods();
std::span<const Builtin> ListMethods();
std::span<const Builtin> IntMethods();
std::span<const Builtin> FloatMethods();
std::span<const Builtin> LoopMethods();
std::span<const Builtin> CyclerMethods();
std::span<const Builtin> Globals();

// Assigns arguments to parameters. InvalidArgument, with the kind and name of the builtin ("filter 'indent'") and the
// name of the argument, for one too many, missing, unknown or given twice.
Result<Args> BindArgs(const Builtin& builtin, std::string_view kind, const CallArgs& args);

}  // namespace adit::chat

#endif  // ADIT_CHAT_BUILTIN_H_
