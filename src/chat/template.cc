#include "chat/template.h"

#include <ctime>
#include <utility>

#include "base/error.h"
#include "chat/ast.h"
#include "chat/context_json.h"
#include "chat/evaluator.h"
#include "chat/parser.h"
#include "chat/text.h"

namespace adit::chat {
namespace {

// A render keeps intermediate results until it ends: they may take a few times the output, or a little for small ones.
constexpr size_t kHeapBytesPerOutputByte = 4;
constexpr size_t kLeastHeapBytes = size_t{1} << 20;

std::tm LocalNow() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  return local;
}

std::vector<PromptSegment> ToSegments(const StringBuilder& out) {
  std::vector<PromptSegment> segments;
  size_t begin = 0;
  bool untrusted = out.first_untrusted();
  const auto add = [&](size_t end) {
    segments.push_back({out.text().substr(begin, end - begin), !untrusted});
    begin = end;
    untrusted = !untrusted;
  };
  for (const size_t cut : out.cuts()) add(cut);
  if (begin < out.text().size()) add(out.text().size());
  return segments;
}

}  // namespace

struct Template::Program {
  std::unique_ptr<ParsedTemplate> parsed;
};

Template::Template(std::unique_ptr<Program> program) : program_(std::move(program)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::Parse(std::string_view source) {
  auto program = std::make_unique<Program>();
  ADIT_ASSIGN_OR_RETURN(program->parsed, ParseTemplate(source));
  return Template(std::move(program));
}

Result<std::vector<PromptSegment>> Template::Render(std::string_view context_json, const RenderOptions& options) const {
  RenderOptions resolved = options;
  if (resolved.now.tm_mday == 0) resolved.now = LocalNow();  // no date has day 0
  Heap context_heap({});
  ADIT_ASSIGN_OR_RETURN(const Dict* context, ParseContext(context_json, resolved.max_depth, context_heap));
  const size_t heap_bytes = std::max(options.max_output_bytes, kLeastHeapBytes);
  Heap heap(
      {.max_bytes = heap_bytes > SIZE_MAX / kHeapBytesPerOutputByte ? SIZE_MAX : heap_bytes * kHeapBytesPerOutputByte,
       .max_steps = options.max_steps});
  Evaluator evaluator(*program_->parsed, resolved, heap);
  StringBuilder out(heap, options.max_output_bytes);
  const Status status = evaluator.Run(*context, out);
  if (status.ok()) return ToSegments(out);
  if (evaluator.raised()) return status;
  return Status(status.code(), fmt::format("chat template: line {}: {}", evaluator.line(), status.message()));
}

Result<std::string> Template::RenderText(std::string_view context_json, const RenderOptions& options) const {
  ADIT_ASSIGN_OR_RETURN(const std::vector<PromptSegment> segments, Render(context_json, options));
  std::string text;
  for (const PromptSegment& segment : segments) text += segment.text;
  return text;
}

}  // namespace adit::chat
