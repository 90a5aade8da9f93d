// The steps that change the text: what a blank is written as, and where one is put.
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/text_cutter.h"

namespace adit::tokenizer {
namespace {

// Text and words under construction.
struct Draft {
  std::string text;
  std::vector<TextRange> words;

  // What was appended since `begin` is a word.
  void EndWord(size_t begin) {
    if (text.size() > begin) words.push_back({begin, text.size()});
  }
};

class ByteLevelCutter : public TextCutter {
 public:
  explicit ByteLevelCutter(ByteLevelOptions options) : options_(options) {}

  void Apply(CutText& cut) const override {
    if (options_.add_prefix_space) PrependBlanks(cut);
    if (options_.use_regex) CutByRule(cut);
    if (map_bytes_) MapBytes(cut);
  }
  bool LeaveBytes() override {
    map_bytes_ = false;
    return true;
  }

 private:
  static void PrependBlanks(CutText& cut) {
    Draft draft;
    for (const TextRange& word : cut.words()) {
      const size_t begin = draft.text.size();
      if (!cut.Word(word).starts_with(' ')) draft.text += ' ';
      draft.text.append(cut.Word(word));
      draft.EndWord(begin);
    }
    cut.SetText(std::move(draft.text), std::move(draft.words));
  }

  static void CutByRule(CutText& cut) {
    std::vector<TextRange> words;
    WordEnds ends;
    for (const TextRange& word : cut.words()) {
      ends.clear();
      SplitGpt2(cut.Word(word), ends);
      size_t begin = word.begin;
      for (const size_t end : ends) {
        words.push_back({begin, word.begin + end});
        begin = word.begin + end;
      }
    }
    cut.SetWords(std::move(words));
  }

  static void MapBytes(CutText& cut) {
    Draft draft;
    for (const TextRange& word : cut.words()) {
      const size_t begin = draft.text.size();
      draft.text.append(EncodeByteLevel(cut.Word(word)));
      draft.EndWord(begin);
    }
    cut.SetText(std::move(draft.text), std::move(draft.words));
  }

  ByteLevelOptions options_;
  bool map_bytes_ = true;
};

class MetaspaceCutter : public TextCutter {
 public:
  explicit MetaspaceCutter(MetaspaceOptions options) : options_(std::move(options)) {}

  void Apply(CutText& cut) const override {
    Draft draft;
    draft.text.reserve(cut.text().size() + cut.text().size() / 2);
    for (const TextRange& word : cut.words()) {
      const std::string_view text = cut.Word(word);
      size_t begin = draft.text.size();
      const bool marked = text.starts_with(' ') || text.starts_with(options_.replacement);
      const bool wanted = options_.prepend == PrependScheme::kAlways ||
                          (options_.prepend == PrependScheme::kFirst && cut.at_start() && word.begin == 0);
      if (wanted && !marked) draft.text.append(options_.replacement);
      for (size_t i = 0; i < text.size(); ++i) {
        const bool blank = text[i] == ' ';
        const bool mark = blank || text.substr(i).starts_with(options_.replacement);
        if (mark && options_.split) {
          draft.EndWord(begin);
          begin = draft.text.size();
        }
        if (blank) {
          draft.text.append(options_.replacement);
        } else {
          draft.text += text[i];
        }
      }
      draft.EndWord(begin);
    }
    cut.SetText(std::move(draft.text), std::move(draft.words));
  }

 private:
  MetaspaceOptions options_;
};

}  // namespace

std::unique_ptr<TextCutter> MakeByteLevelCutter(ByteLevelOptions options) {
  return std::make_unique<ByteLevelCutter>(options);
}

std::unique_ptr<TextCutter> MakeMetaspaceCutter(MetaspaceOptions options) {
  return std::make_unique<MetaspaceCutter>(std::move(options));
}

}  // namespace adit::tokenizer
