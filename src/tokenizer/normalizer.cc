#include "tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/scan_internal.h"

namespace adit::tokenizer {
namespace {

class ByteAlphabet : public Normalizer {
 public:
  void Apply(std::string& text) const override { text = EncodeByteLevel(text); }
  double MaxGrowth() const override { return 2; }
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  void Apply(std::string& text) const override {
    const Scanner scanner(text);
    size_t end = text.size();
    while (right_ && end > 0) {
      size_t last = end - 1;
      while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
      if (!(scanner.At(last).classes & kSpace)) break;
      end = last;
    }
    const size_t begin = left_ ? std::min(scanner.SkipAny(0, kSpace), end) : 0;
    text = text.substr(begin, end - begin);
  }

 private:
  bool left_;
  bool right_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void Apply(std::string& text) const override {
    if (!text.empty()) text.insert(0, prefix_);
  }

 private:
  std::string prefix_;
};

class Replace : public Normalizer {
 public:
  Replace(SplitPattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void Apply(std::string& text) const override {
    std::string out;
    size_t copied = 0;
    bool any = false;
    pattern_.ForEachMatch(text, [&](size_t begin, size_t end) {
      if (!any) out.reserve(text.size() + text.size() / 2);
      any = true;
      out.append(text, copied, begin - copied).append(content_);
      copied = end;
    });
    if (!any) return;
    out.append(text, copied);
    text = std::move(out);
  }
  double MaxGrowth() const override { return pattern_.MaxGrowth(content_); }

 private:
  SplitPattern pattern_;
  std::string content_;
};

// As the `tokenizers` library applies the rules: to each grapheme cluster of less than six bytes as a whole, to others
// character by character; the rule for the shortest start of it stands for all of it.
class CharsmapNormalizer : public Normalizer {
 public:
  explicit CharsmapNormalizer(Charsmap charsmap) : charsmap_(std::move(charsmap)) {}

  void Apply(std::string& text) const override {
    constexpr size_t kMaxWholeBytes = 5;
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (size_t pos = 0; pos < text.size();) {
      const size_t end = ClusterEnd(text, pos);
      const std::string_view cluster = std::string_view(text).substr(pos, end - pos);
      pos = end;
      const auto rule = cluster.size() <= kMaxWholeBytes ? charsmap_.Shortest(cluster) : std::nullopt;
      if (rule) {
        out.append(rule->replacement);
      } else {
        AppendCharacters(cluster, out);
      }
    }
    text = std::move(out);
  }
  double MaxGrowth() const override {
    return static_cast<double>(std::max<size_t>(1, charsmap_.max_replacement_bytes()));
  }

 private:
  // End of the extended grapheme cluster at `pos` (UAX 29).
  static size_t ClusterEnd(std::string_view text, size_t pos) {
    Utf8Char c = DecodeUtf8(text.substr(pos));
    utf8proc_int32_t state = 0;
    for (pos += c.length; pos < text.size(); pos += c.length) {
      const auto previous = static_cast<utf8proc_int32_t>(c.code_point);
      c = DecodeUtf8(text.substr(pos));
      if (utf8proc_grapheme_break_stateful(previous, static_cast<utf8proc_int32_t>(c.code_point), &state)) break;
    }
    return pos;
  }

  void AppendCharacters(std::string_view text, std::string& out) const {
    while (!text.empty()) {
      const std::string_view c = text.substr(0, DecodeUtf8(text).length);
      const auto rule = charsmap_.Shortest(c);
      out.append(rule ? rule->replacement : c);
      text.remove_prefix(c.size());
    }
  }

  Charsmap charsmap_;
};

class Sequence : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}
  void Apply(std::string& text) const override {
    for (const auto& step : steps_) step->Apply(text);
  }
  double MaxGrowth() const override {
    double growth = 1;
    for (const auto& step : steps_) growth *= step->MaxGrowth();
    return growth;
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

}  // namespace

std::unique_ptr<Normalizer> MakeByteAlphabet() { return std::make_unique<ByteAlphabet>(); }
std::unique_ptr<Normalizer> MakeStrip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
std::unique_ptr<Normalizer> MakePrepend(std::string text) { return std::make_unique<Prepend>(std::move(text)); }
std::unique_ptr<Normalizer> MakeReplace(SplitPattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<Normalizer> MakeCharsmap(Charsmap charsmap) {
  return std::make_unique<CharsmapNormalizer>(std::move(charsmap));
}
std::unique_ptr<Normalizer> MakeSequence(std::vector<std::unique_ptr<Normalizer>> steps) {
  return std::make_unique<Sequence>(std::move(steps));
}

}  // namespace adit::tokenizer
