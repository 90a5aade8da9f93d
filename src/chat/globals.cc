#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/container.h"
#include "chat/strftime.h"
#include "chat/text.h"

// The functions that every template can call.
namespace adit::chat {
namespace {

// Jinja's sandbox has the same limit.
constexpr size_t kMaxRange = 100'000;

Result<Value> Range(Evaluator& eval, const Value&, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t first, IntArg(args, 0, 0, "start"));
  ADIT_ASSIGN_OR_RETURN(const int64_t second, IntArg(args, 1, 0, "stop"));
  ADIT_ASSIGN_OR_RETURN(const int64_t step, IntArg(args, 2, 1, "step"));
  if (step == 0) return InvalidArgument("range() arg 3 must not be zero");
  const bool one = !args.has(1);
  const Sequence* range = NewRange(eval.heap(), one ? 0 : first, one ? first : second, step);
  if (range->size > kMaxRange) {
    return ResourceExhausted("range() of {} items, the limit is {}", range->size, kMaxRange);
  }
  return Value(range);
}

// Appends the entries of dict(): a dict, or pairs.
Status AddEntries(Evaluator& eval, const Value& source, std::vector<DictEntry>* entries) {
  if (source.is(Kind::kDict)) {
    entries->insert(entries->end(), source.dict()->span().begin(), source.dict()->span().end());
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> pairs, ItemsOf(source, eval.heap()));
  for (const Value& item : pairs) {
    ADIT_ASSIGN_OR_RETURN(const std::span<const Value> pair, ItemsOf(item, eval.heap()));
    if (pair.size() != 2) return InvalidArgument("dict() takes pairs, not {} values", pair.size());
    ADIT_RETURN_IF_ERROR(CheckHashable(pair[0]));
    entries->push_back({pair[0], pair[1]});
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return Status();
}

Result<std::vector<DictEntry>> EntriesOf(Evaluator& eval, const Args& args, std::string_view function) {
  if (args.raw.positional.size() > 1) {
    return InvalidArgument("{} expected at most 1 argument, got {}", function, args.raw.positional.size());
  }
  std::vector<DictEntry> entries;
  if (!args.raw.positional.empty()) ADIT_RETURN_IF_ERROR(AddEntries(eval, args.raw.positional[0], &entries));
  for (const KeywordArg& keyword : args.raw.keywords) entries.push_back({keyword.name, keyword.value});
  return entries;
}

Result<Value> DictFunction(Evaluator& eval, const Value&, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<DictEntry> entries, EntriesOf(eval, args, "dict"));
  return Value(NewDict(eval.heap(), entries));
}

Result<Value> NamespaceFunction(Evaluator& eval, const Value&, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<DictEntry> entries, EntriesOf(eval, args, "namespace"));
  auto* ns = eval.heap().New<Namespace>();
  for (const DictEntry& entry : entries) {
    if (!entry.key.is(Kind::kString)) return InvalidArgument("namespace(): a name is not a string");
    SetName(eval.heap(), *ns, entry.key.str(), entry.value);
    if (!eval.heap().Spend(static_cast<int64_t>(ns->size / 16))) return eval.heap().status();
  }
  return Value(ns);
}

Result<Value> CyclerFunction(Evaluator& eval, const Value&, const Args& args) {
  if (args.raw.positional.empty() || !args.raw.keywords.empty()) {
    return InvalidArgument("cycler() takes at least one item, and no keywords");
  }
  auto* cycler = eval.heap().New<Cycler>();
  cycler->items = args.raw.positional;
  return Value(cycler);
}

Result<Value> JoinerFunction(Evaluator& eval, const Value&, const Args& args) {
  auto* joiner = eval.heap().New<Joiner>();
  joiner->separator = args.has(0) ? args[0] : Value(Literal(eval, ", "));
  return Value(joiner);
}

Result<Value> RaiseException(Evaluator& eval, const Value&, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* message, SoftStr(eval, args[0]));
  return eval.Raise(message->view());
}

Result<Value> StrftimeNow(Evaluator& eval, const Value&, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* format, StrArg(args, 0, "format"));
  if (format == nullptr) return InvalidArgument("strftime_now() argument must be str, not None");
  std::string text;
  ADIT_RETURN_IF_ERROR(FormatTime(format->view(), eval.options().now, &text));
  return Value(NewStr(eval.heap(), text, AnyUntrusted(*format)));
}

constexpr Builtin kGlobals[] = {
    {"range", "_,_,_", 1, Range},
    {"dict", "*", 0, DictFunction},
    {"namespace", "*", 0, NamespaceFunction},
    {"cycler", "*", 0, CyclerFunction},
    {"joiner", "sep", 0, JoinerFunction},
    {"raise_exception", "message", 1, RaiseException},
    {"strftime_now", "format", 1, StrftimeNow},
};

}  // namespace

std::span<const Builtin> Globals() { return kGlobals; }

}  // namespace adit::chat
