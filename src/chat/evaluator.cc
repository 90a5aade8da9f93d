#include "chat/evaluator.h"

#include <algorithm>

#include "base/error.h"

namespace adit::chat {

Evaluator::Evaluator(const ParsedTemplate& program, const RenderOptions& options, Heap& heap)
    : program_(program), options_(options), heap_(heap) {
  globals_ = heap_.NewArray<Value>(program.names.size());
  for (size_t i = 0; i < program.names.size(); ++i) {
    const Builtin* builtin = FindGlobal(program.names[i]->view());
    if (builtin == nullptr) continue;
    auto* function = heap_.New<Function>();
    function->builtin = builtin;
    globals_[i] = function;
  }
}

Status Evaluator::Run(const Dict& context, StringBuilder& out) {
  for (const DictEntry& entry : context.span()) {
    const auto name = program_.name_ids.find(entry.key.str()->view());
    if (name != program_.name_ids.end()) globals_[name->second] = entry.value;
  }
  for (const NameId name : program_.root.undefined_at_entry) globals_[name] = Value();
  out_ = &out;
  ADIT_RETURN_IF_ERROR(Exec(program_.root.body).status());
  return heap_.exhausted() ? heap_.status() : Status();
}

Status Evaluator::Raise(std::string_view message) {
  raised_ = true;
  return InvalidArgument("{}", message);
}

}  // namespace adit::chat
