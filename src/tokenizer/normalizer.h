#ifndef ADIT_TOKENIZER_NORMALIZER_H_
#define ADIT_TOKENIZER_NORMALIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/charsmap.h"
#include "tokenizer/split_pattern.h"

namespace adit::tokenizer {

// A change to the text before it is cut into words. Immutable and thread-safe. Text is UTF-8 before and after.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void Apply(std::string& text) const = 0;
  // How many bytes one byte of text may become, at most.
  virtual double MaxGrowth() const { return 1; }
};

// The normal forms of Unicode (UAX 15).
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct BertNormalizerOptions {
  bool clean_text = true;            // drops controls, makes every white space a blank
  bool handle_chinese_chars = true;  // blanks around ideographs
  bool strip_accents = true;
  bool lowercase = true;
};

// What BERT's rules ask of a character; normalizer_chars.cc.
// Category C but for what is unassigned and for tab and line ends.
bool IsControlCharacter(char32_t c);
// The blocks of CJK ideographs that BERT's own tokenizer names.
bool IsIdeograph(char32_t c);
// Appends the lower case of `c`.
void AppendLower(char32_t c, std::string& out);

std::unique_ptr<Normalizer> MakeUnicodeForm(UnicodeForm form);        // normalizer_unicode.cc
std::unique_ptr<Normalizer> MakeLowercase();                          // normalizer_chars.cc
std::unique_ptr<Normalizer> MakeStripAccents();                       // normalizer_chars.cc: drops all marks
std::unique_ptr<Normalizer> MakeNmt();                                // normalizer_chars.cc
std::unique_ptr<Normalizer> MakeBert(BertNormalizerOptions options);  // normalizer_chars.cc
std::unique_ptr<Normalizer> MakeByteAlphabet();                       // normalizer.cc: each byte's character
std::unique_ptr<Normalizer> MakeStrip(bool left, bool right);         // normalizer.cc: white space at the ends
std::unique_ptr<Normalizer> MakePrepend(std::string text);            // normalizer.cc: before what is not empty
std::unique_ptr<Normalizer> MakeReplace(SplitPattern pattern, std::string content);        // normalizer.cc
std::unique_ptr<Normalizer> MakeCharsmap(Charsmap charsmap);                               // normalizer.cc
std::unique_ptr<Normalizer> MakeSequence(std::vector<std::unique_ptr<Normalizer>> steps);  // normalizer.cc

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_NORMALIZER_H_
