#include "cli/edited_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/utf8.h"

namespace adit::cli {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Combining marks, joiners and variation selectors of the scripts that people type most.
constexpr CodeRange kNoColumns[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},  {0x064b, 0x065f},
                                    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},  {0x1ab0, 0x1aff},
                                    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},  {0x302a, 0x302f},
                                    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
// East Asian wide and full-width characters, and emoji.
constexpr CodeRange kTwoColumns[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                                     {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                     {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                                     {0x20000, 0x3fffd}};

template <size_t kCount>
bool IsIn(const CodeRange (&ranges)[kCount], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

void EditedLine::Set(std::string text) {
  text_ = std::move(text);
  End();
}

void EditedLine::Insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void EditedLine::Left() {
  if (cursor_ == 0) return;
  do {
    --cursor_;
  } while (cursor_ > 0 && IsContinuation(text_[cursor_]));
}

void EditedLine::Right() {
  if (at_end()) return;
  do {
    ++cursor_;
  } while (!at_end() && IsContinuation(text_[cursor_]));
}

size_t EditedLine::WordStart() const {
  size_t at = cursor_;
  while (at > 0 && text_[at - 1] == ' ') --at;
  while (at > 0 && text_[at - 1] != ' ') --at;
  return at;
}

void EditedLine::WordRight() {
  while (!at_end() && text_[cursor_] == ' ') ++cursor_;
  while (!at_end() && text_[cursor_] != ' ') ++cursor_;
}

void EditedLine::DeleteBack() {
  const size_t end = cursor_;
  Left();
  text_.erase(cursor_, end - cursor_);
}

void EditedLine::DeleteForward() {
  const size_t begin = cursor_;
  Right();
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void EditedLine::DeleteWordBack() {
  const size_t begin = WordStart();
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void EditedLine::DeleteToStart() {
  text_.erase(0, cursor_);
  cursor_ = 0;
}

size_t TerminalColumns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Utf8Char next = DecodeUtf8(text);
    if (!IsIn(kNoColumns, next.code_point)) columns += IsIn(kTwoColumns, next.code_point) ? 2 : 1;
    text.remove_prefix(next.length);
  }
  return columns;
}

void LineHistory::Add(std::string_view line) {
  if (!line.empty() && (lines_.empty() || lines_.back() != line)) lines_.emplace_back(line);
  if (lines_.size() > kMaxLines) lines_.erase(lines_.begin());
  Restart();
}

const std::string* LineHistory::Older(const std::string& typed) {
  if (at_ == 0) return nullptr;
  if (at_ == lines_.size()) typed_ = typed;
  return &lines_[--at_];
}

const std::string* LineHistory::Newer() {
  if (at_ == lines_.size()) return nullptr;
  return ++at_ == lines_.size() ? &typed_ : &lines_[at_];
}

}  // namespace adit::cli
