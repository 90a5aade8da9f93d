#include "chat/wordwrap.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "chat/text.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

bool IsBlank(char32_t c) { return c == U' ' || (c >= 9 && c <= 13); }
bool IsLetter(char32_t c) { return IsWordChar(c) && !IsDecimal(c); }
bool IsWordOrPunctuation(char32_t c) {
  return IsWordChar(c) || std::u32string_view(U"!\"'&.,?").find(c) != std::u32string_view::npos;
}

// A stretch of chars, by index.
struct Chunk {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};

class Wrapper {
 public:
  Wrapper(const Str& text, const WrapOptions& options) : text_(text), options_(options) {
    for (size_t pos = 0; pos < text.size;) {
      const Utf8Char c = DecodeUtf8(text.view().substr(pos));
      chars_.push_back(c.code_point);
      offsets_.push_back(pos);
      pos += c.length;
    }
    offsets_.push_back(text.size);
  }

  std::vector<Str> Run();

 private:
  std::vector<Chunk> Chunks() const;
  size_t ChunkEnd(size_t begin) const;
  bool HyphenSplits(size_t hyphen) const;
  size_t DashRun(size_t begin) const;  // chars of a dash before a word, 0 if there is none
  bool IsAt(size_t index, bool (*predicate)(char32_t)) const {
    return index < chars_.size() && predicate(chars_[index]);
  }
  bool IsAllSpace(const Chunk& chunk) const;
  size_t LongWordCut(const Chunk& chunk, size_t room) const;

  const Str& text_;
  const WrapOptions& options_;
  std::vector<char32_t> chars_;
  std::vector<size_t> offsets_;
};

size_t Wrapper::DashRun(size_t begin) const {
  size_t end = begin;
  while (end < chars_.size() && chars_[end] == U'-') ++end;
  return end - begin >= 2 && IsAt(end, IsWordChar) ? end - begin : 0;
}

// A hyphen ends a chunk after two letters, or a letter between hyphens, if a word goes on behind it.
bool Wrapper::HyphenSplits(size_t hyphen) const {
  const bool two_letters = hyphen >= 2 && IsLetter(chars_[hyphen - 1]) && IsLetter(chars_[hyphen - 2]);
  const bool between =
      hyphen >= 3 && IsLetter(chars_[hyphen - 1]) && chars_[hyphen - 2] == U'-' && IsLetter(chars_[hyphen - 3]);
  if (!two_letters && !between) return false;
  if (!IsAt(hyphen + 1, IsLetter)) return false;
  const bool second_hyphen = hyphen + 2 < chars_.size() && chars_[hyphen + 2] == U'-';
  return IsAt(hyphen + 2, IsLetter) || (second_hyphen && IsAt(hyphen + 3, IsLetter));
}

size_t Wrapper::ChunkEnd(size_t begin) const {
  size_t end = begin;
  if (IsBlank(chars_[begin])) {
    while (IsAt(end, IsBlank)) ++end;
    return end;
  }
  if (!options_.break_on_hyphens) {
    while (end < chars_.size() && !IsBlank(chars_[end])) ++end;
    return end;
  }
  if (begin > 0 && IsWordOrPunctuation(chars_[begin - 1]) && DashRun(begin) > 0) return begin + DashRun(begin);
  for (end = begin + 1; end < chars_.size() && !IsBlank(chars_[end]); ++end) {
    if (chars_[end] != U'-') continue;
    if (HyphenSplits(end)) return end + 1;
    if (IsWordOrPunctuation(chars_[end - 1]) && DashRun(end) > 0) return end;
  }
  return end;
}

std::vector<Chunk> Wrapper::Chunks() const {
  std::vector<Chunk> chunks;
  for (size_t begin = 0; begin < chars_.size();) {
    const size_t end = ChunkEnd(begin);
    chunks.push_back({begin, end});
    begin = end;
  }
  return chunks;
}

bool Wrapper::IsAllSpace(const Chunk& chunk) const {
  return std::all_of(chars_.begin() + static_cast<ptrdiff_t>(chunk.begin),
                     chars_.begin() + static_cast<ptrdiff_t>(chunk.end), IsSpace);
}

// How much of a word too long for any line goes on a line with `room` left.
size_t Wrapper::LongWordCut(const Chunk& chunk, size_t room) const {
  if (!options_.break_on_hyphens) return room;
  for (size_t i = room; i-- > 1;) {
    if (chars_[chunk.begin + i] != U'-') continue;
    const auto first = chars_.begin() + static_cast<ptrdiff_t>(chunk.begin);
    const bool only_hyphens =
        std::all_of(first, first + static_cast<ptrdiff_t>(i), [](char32_t c) { return c == U'-'; });
    return only_hyphens ? room : i + 1;
  }
  return room;
}

std::vector<Str> Wrapper::Run() {
  std::vector<Str> lines;
  std::vector<Chunk> chunks = Chunks();
  const auto width = static_cast<size_t>(options_.width);
  size_t next = 0;
  while (next < chunks.size()) {
    if (!lines.empty() && IsAllSpace(chunks[next])) ++next;
    if (next == chunks.size()) break;
    Chunk line{chunks[next].begin, chunks[next].begin};
    Chunk last = line;
    while (next < chunks.size() && line.size() + chunks[next].size() <= width) {
      last = chunks[next++];
      line.end = last.end;
    }
    if (next < chunks.size() && chunks[next].size() > width) {
      if (options_.break_long_words) {
        const size_t cut = LongWordCut(chunks[next], width - line.size());
        last = {line.end, line.end + cut};
        line.end += cut;
        chunks[next].begin += cut;
      } else if (line.size() == 0) {
        last = chunks[next++];
        line.end = last.end;
      }
    }
    if (IsAllSpace(last)) line.end = last.begin;
    if (line.size() > 0) lines.push_back(Sub(text_, offsets_[line.begin], offsets_[line.end]));
  }
  return lines;
}

}  // namespace

std::vector<Str> WrapLines(const Str& paragraph, const WrapOptions& options, Heap& heap) {
  // The arrays of the work take some ten times the text.
  if (!heap.Reserve(paragraph.size * 16) || !heap.Spend(static_cast<int64_t>(paragraph.size))) return {};
  return Wrapper(paragraph, options).Run();
}

}  // namespace adit::chat
