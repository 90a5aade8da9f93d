// Normalizers that look at one character at a time.
#include <utf8proc.h>

#include "base/utf8.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode_class.h"

namespace adit::tokenizer {
namespace {

// `text` with each character c replaced by what write(c, out) appends.
template <typename Write>
void MapCharacters(std::string& text, const Write& write) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  std::string_view rest = text;
  while (!rest.empty()) {
    const Utf8Char c = DecodeUtf8(rest);
    write(c.code_point, out);
    rest.remove_prefix(c.length);
  }
  text = std::move(out);
}

}  // namespace

void AppendLower(char32_t c, std::string& out) {
  constexpr char32_t kCapitalIWithDot = 0x130;  // the one letter whose lower case has two characters
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  } else if (c == kCapitalIWithDot) {
    out += "i\u0307";
  } else {
    AppendUtf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), out);
  }
}

bool IsControlCharacter(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return false;
  }
}

bool IsIdeograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

namespace {

bool IsSpace(char32_t c) { return (UnicodeClasses::Get().Of(c) & kSpace) != 0; }

class Lowercase : public Normalizer {
 public:
  void Apply(std::string& text) const override { MapCharacters(text, AppendLower); }
  double MaxGrowth() const override { return 1.5; }
};

class StripAccents : public Normalizer {
 public:
  void Apply(std::string& text) const override {
    MapCharacters(text, [](char32_t c, std::string& out) {
      if (!(UnicodeClasses::Get().Of(c) & kMark)) AppendUtf8(c, out);
    });
  }
};

// The rules of neural machine translation that SentencePiece calls "nmt": controls go, odd blanks become blanks.
class Nmt : public Normalizer {
 public:
  void Apply(std::string& text) const override {
    MapCharacters(text, [](char32_t c, std::string& out) {
      if (IsDropped(c)) return;
      AppendUtf8(IsBlank(c) ? U' ' : c, out);
    });
  }

 private:
  static bool IsDropped(char32_t c) {
    return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool IsBlank(char32_t c) {
    return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
           c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

class Bert : public Normalizer {
 public:
  explicit Bert(BertNormalizerOptions options) : options_(options), nfd_(MakeUnicodeForm(UnicodeForm::kNfd)) {}

  void Apply(std::string& text) const override {
    MapCharacters(text, [this](char32_t c, std::string& out) { Clean(c, out); });
    if (options_.strip_accents) {
      nfd_->Apply(text);
      MapCharacters(text, [](char32_t c, std::string& out) {
        if (c < 0x80 || utf8proc_category(static_cast<utf8proc_int32_t>(c)) != UTF8PROC_CATEGORY_MN) AppendUtf8(c, out);
      });
    }
    if (options_.lowercase) MapCharacters(text, AppendLower);
  }
  double MaxGrowth() const override { return 12; }

 private:
  void Clean(char32_t c, std::string& out) const {
    if (options_.clean_text) {
      if (c == 0 || c == kReplacementCharacter || IsControlCharacter(c)) return;
      if (IsSpace(c)) c = ' ';
    }
    const bool apart = options_.handle_chinese_chars && IsIdeograph(c);
    if (apart) out += ' ';
    AppendUtf8(c, out);
    if (apart) out += ' ';
  }

  BertNormalizerOptions options_;
  std::unique_ptr<Normalizer> nfd_;
};

}  // namespace

std::unique_ptr<Normalizer> MakeLowercase() { return std::make_unique<Lowercase>(); }
std::unique_ptr<Normalizer> MakeStripAccents() { return std::make_unique<StripAccents>(); }
std::unique_ptr<Normalizer> MakeNmt() { return std::make_unique<Nmt>(); }
std::unique_ptr<Normalizer> MakeBert(BertNormalizerOptions options) { return std::make_unique<Bert>(options); }

}  // namespace adit::tokenizer
