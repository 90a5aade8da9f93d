#ifndef ADIT_CHAT_TEMPLATE_H_
#define ADIT_CHAT_TEMPLATE_H_

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::chat {

// A stretch of a rendered prompt. Trusted text comes from the template (or from the caller's own settings such as BOS);
// the rest from message content, tool definitions and the like, and must not be read as control tokens.
struct PromptSegment {
  std::string text;
  bool trusted = false;
};

struct RenderOptions {
  // What strftime_now sees; local time fields. Unset (all zero) means the time of the call.
  std::tm now = {};
  // Limits: a template that exceeds one fails with ResourceExhausted. docs/chat_templates.md has all of them.
  size_t max_output_bytes = size_t{64} << 20;  // and four times as much for what is computed on the way
  int64_t max_steps = 50'000'000;              // about one for each node of the template evaluated
  int max_depth = 200;                         // of calls inside each other, and of the context's JSON
};

// A chat template in the dialect that Hugging Face transformers renders: Jinja 2.11-3.1 with trim_blocks and
// lstrip_blocks, loop controls, the `generation` tag, `tojson` as json.dumps, `strftime_now` and `raise_exception`.
// Immutable after Parse; Render is const and thread-safe.
class Template {
 public:
  // InvalidArgument with line and cause for a syntax error or a construct this dialect does not have, ResourceExhausted
  // for a text too long or nested too deep.
  static Result<Template> Parse(std::string_view source);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // Renders with the variables of `context_json`, a JSON object whose key order is kept. Strings of the context are
  // untrusted, except the top-level variables bos_token, eos_token and other top-level strings the caller sets; every
  // byte keeps its trust through concatenation, slices, methods, filters and macros. No segment is empty, and
  // neighbours differ in trust. InvalidArgument for JSON that is not an object, for raise_exception (its message
  // verbatim) and for errors of evaluation, with line and cause.
  Result<std::vector<PromptSegment>> Render(std::string_view context_json, const RenderOptions& options) const;
  Result<std::string> RenderText(std::string_view context_json, const RenderOptions& options) const;

 private:
  struct Program;
  explicit Template(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_TEMPLATE_H_
