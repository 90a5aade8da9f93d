#ifndef ADIT_TOKENIZER_PRE_TOKENIZER_H_
#define ADIT_TOKENIZER_PRE_TOKENIZER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adit::tokenizer {

// Where the words of a text end: ascending byte offsets, the last one the size of the text. No word is empty.
using WordEnds = std::vector<size_t>;

// Cuts `text` into words and appends their ends. Each rule is the published regular expression of a family, written as
// a scanner that reads each character a bounded number of times; its source states the expression. Precondition: every
// character of `text` is complete (RewriteLenient).
using SplitFunction = void (*)(std::string_view text, WordEnds& ends);

void SplitGpt2(std::string_view text, WordEnds& ends);            // split_gpt2.cc
void SplitDigitsThenGpt2(std::string_view text, WordEnds& ends);  // split_gpt2.cc
void SplitDefault(std::string_view text, WordEnds& ends);         // split_default.cc
void SplitLlama3(std::string_view text, WordEnds& ends);          // split_llama3.cc
void SplitQwen2(std::string_view text, WordEnds& ends);           // split_llama3.cc
void SplitQwen35(std::string_view text, WordEnds& ends);          // split_llama3.cc
void SplitSuperBpe(std::string_view text, WordEnds& ends);        // split_threes.cc
// Cuts numbers into groups of three digits from the right; split_threes.cc.
void SplitThreesBeforeBorders(std::string_view text, WordEnds& ends);

// What `tokenizer.ggml.pre` selects: a splitter, and regular expressions in the dialect of TranslateOnigPattern, each
// of which cuts what those before it left or found: every match is a word, and so is what lies between two.
struct PreTokenizer {
  std::string_view name;
  SplitFunction split = nullptr;
  std::span<const std::string_view> patterns = {};
  bool whole_words = false;  // a word that is a vocabulary entry is taken as that entry, whatever the merges say
  bool adds_bos = false;     // where the metadata does not say
};

// Null for a name that this build does not know.
const PreTokenizer* FindPreTokenizer(std::string_view name);

// All names, for error messages: "a, b, c".
std::string PreTokenizerNames();

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_PRE_TOKENIZER_H_
