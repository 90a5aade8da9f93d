// A saved talk of arbitrary content. What is read is written so that it reads the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cli/saved_talk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using adit::cli::SavedTalk;
  const adit::Result<SavedTalk> talk =
      adit::cli::ParseSavedTalk(std::string_view(reinterpret_cast<const char*>(data), size), "input");
  if (!talk.ok()) return 0;
  const std::string text = adit::cli::SavedTalkText(*talk);
  const adit::Result<SavedTalk> again = adit::cli::ParseSavedTalk(text, "again");
  ADIT_CHECK(again.ok() && adit::cli::SavedTalkText(*again) == text);
  return 0;
}
