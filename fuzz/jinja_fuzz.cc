// Parses a chat template and renders it. The first two bytes say how much of the rest, modulo its size, is the
// template; what follows is the context. A context that is no JSON object is replaced by one, so that templates still
// run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "chat/template.h"

namespace adit::chat {
namespace {

constexpr std::string_view kContext =
    R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": " héllo <b> "},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments":
        {"a": 1, "b": [2.5, true]}}}]}, {"role": "tool", "content": [{"type": "text", "text": "x"}]}],
        "tools": [{"type": "function", "function": {"name": "f"}}], "add_generation_prompt": true, "bos_token": "<s>",
        "x": 7, "s": "Hello World", "l": [3, 1, 2], "d": {"b": 1, "a": {"c": [1, 2]}}, "n": null, "big": 12345678901234567890})";

RenderOptions SmallLimits() {
  RenderOptions options;
  options.now.tm_year = 124;
  options.now.tm_mday = 26;
  options.max_output_bytes = size_t{64} << 10;
  options.max_steps = 20'000;
  options.max_depth = 40;
  return options;
}

void CheckSegments(const std::vector<PromptSegment>& segments, const RenderOptions& options) {
  size_t size = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    ADIT_CHECK(!segments[i].text.empty());
    ADIT_CHECK(IsValidUtf8(segments[i].text));
    ADIT_CHECK(i == 0 || segments[i].trusted != segments[i - 1].trusted);
    size += segments[i].text.size();
  }
  ADIT_CHECK(size <= options.max_output_bytes);
}

void RenderOnce(const Template& parsed, std::string_view context) {
  const RenderOptions options = SmallLimits();
  const Result<std::vector<PromptSegment>> segments = parsed.Render(context, options);
  if (segments.ok()) {
    CheckSegments(*segments, options);
  } else {
    ADIT_CHECK(segments.status().code() == StatusCode::kInvalidArgument ||
               segments.status().code() == StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace adit::chat

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using adit::chat::Template;
  if (size < 2) return 0;
  const size_t wanted = data[0] | static_cast<size_t>(data[1]) << 8;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t template_size = wanted % (rest.size() + 1);
  const adit::Result<Template> parsed = Template::Parse(rest.substr(0, template_size));
  if (!parsed.ok()) return 0;
  adit::chat::RenderOnce(*parsed, rest.substr(template_size));
  adit::chat::RenderOnce(*parsed, adit::chat::kContext);
  return 0;
}
