// What adit eval reads: a file of base logits, every row of one that is accepted, and the items of its tasks.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "eval/base_logits.h"
#include "eval/choice_task.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const adit::Result<adit::eval::BaseLogits> base = adit::eval::BaseLogits::Parse(bytes, "fuzz");
  if (base.ok()) {
    std::vector<float> row(static_cast<size_t>(base->vocab_size()));
    const adit::eval::TextWindows& windows = base->windows();
    for (int64_t window = 0; window < windows.num_windows(); ++window) {
      for (int64_t i = 0; i < windows.scored_per_window(); ++i) base->ReadRow(window, i, row);
    }
  }
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const adit::Result<adit::eval::ChoiceItem> scene = adit::eval::ParseHellaSwag(line, "fuzz");
  if (scene.ok()) adit::eval::AsExample(*scene);
  const adit::Result<adit::eval::ChoiceItem> question = adit::eval::ParseMmlu(line, "fuzz");
  if (question.ok()) adit::eval::AsExample(*question);
  return 0;
}
