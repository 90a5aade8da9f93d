#include <utf8proc.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "tokenizer/normalizer.h"

namespace adit::tokenizer {
namespace {

constexpr char32_t kNumCodePoints = 0x110000;

utf8proc_option_t Options(UnicodeForm form) {
  const bool compose = form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
  const bool compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (compatible ? UTF8PROC_COMPAT : 0));
}

// The characters that a form may change or that may change with their neighbours. A text without any is in that form.
class UnstableCharacters {
 public:
  explicit UnstableCharacters(UnicodeForm form) : bits_(kNumCodePoints) {
    const bool composed = form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
    const utf8proc_option_t options = Options(form);
    const auto decompose_options = static_cast<utf8proc_option_t>((options & ~UTF8PROC_COMPOSE) | UTF8PROC_DECOMPOSE);
    for (char32_t c = 0x80; c < kNumCodePoints; ++c) {
      if (c == 0x40000) c = 0xE0000;  // nothing is assigned in between
      const auto code = static_cast<utf8proc_int32_t>(c);
      if (utf8proc_get_property(code)->combining_class != 0) bits_[c] = true;
      utf8proc_int32_t parts[32];
      const utf8proc_ssize_t n = utf8proc_decompose_char(code, parts, 32, decompose_options, nullptr);
      if (n < 1 || (n == 1 && parts[0] == code)) continue;
      // What comes second in a pair may compose with what stands before it.
      for (utf8proc_ssize_t i = 1; composed && i < n && i < 32; ++i) Mark(parts[i]);
      if (!composed || !IsStable(code, options)) bits_[c] = true;
    }
  }

  bool AnyIn(std::string_view text) const {
    while (!text.empty()) {
      if (static_cast<unsigned char>(text[0]) < 0x80) {
        text.remove_prefix(1);
        continue;
      }
      const Utf8Char c = DecodeUtf8(text);
      if (bits_[c.code_point]) return true;
      text.remove_prefix(c.length);
    }
    return false;
  }

 private:
  void Mark(utf8proc_int32_t code) {
    if (code >= 0x80) bits_[static_cast<size_t>(code)] = true;
  }
  static bool IsStable(utf8proc_int32_t code, utf8proc_option_t options) {
    utf8proc_int32_t parts[32];
    const auto decompose = static_cast<utf8proc_option_t>((options & ~UTF8PROC_COMPOSE) | UTF8PROC_DECOMPOSE);
    const utf8proc_ssize_t n = utf8proc_decompose_char(code, parts, 32, decompose, nullptr);
    return n >= 1 && n <= 32 && utf8proc_normalize_utf32(parts, n, options) == 1 && parts[0] == code;
  }

  std::vector<bool> bits_;
};

class UnicodeFormNormalizer : public Normalizer {
 public:
  explicit UnicodeFormNormalizer(UnicodeForm form) : form_(form), unstable_(form) {}

  void Apply(std::string& text) const override {
    if (!unstable_.AnyIn(text)) return;
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                 static_cast<utf8proc_ssize_t>(text.size()), &mapped, Options(form_));
    ADIT_CHECK(length >= 0);
    text.assign(reinterpret_cast<const char*>(mapped), static_cast<size_t>(length));
    std::free(mapped);
  }
  // Three bytes of U+FDFA become 33.
  double MaxGrowth() const override { return 11; }

 private:
  UnicodeForm form_;
  UnstableCharacters unstable_;
};

}  // namespace

std::unique_ptr<Normalizer> MakeUnicodeForm(UnicodeForm form) { return std::make_unique<UnicodeFormNormalizer>(form); }

}  // namespace adit::tokenizer
