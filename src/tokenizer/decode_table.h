#ifndef ADIT_TOKENIZER_DECODE_TABLE_H_
#define ADIT_TOKENIZER_DECODE_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tokenizer/piece_table.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {

// Text that goes from the ends of a decoded sequence, up to so many times.
struct EndStrip {
  std::string text;  // one character; empty: nothing goes
  int32_t front = 0;
  int32_t back = 0;
};

// What each token adds to a text, by id. Decoding is a walk over this table: whatever a tokenizer's decoder does to one
// token has been done when the table was made.
class DecodeTable {
 public:
  // `bytes`: of tokens that are neither first nor last. `first` and `last`, if not empty, are of the same size and hold
  // what a token adds as the first and as the last one; a token that is both counts as first.
  explicit DecodeTable(PieceTable bytes, PieceTable first = {}, PieceTable last = {}, EndStrip strip = {});

  // One step; the caller passes over tokens that are not shown.
  void Next(int32_t id, DecodeState& state, std::string& out) const;
  void End(DecodeState& state, std::string& out) const;

  std::string_view bytes(int32_t id) const { return bytes_[id]; }
  const PieceTable& table() const { return bytes_; }

 private:
  std::string_view FirstBytes(int32_t id) const { return first_.size() > 0 ? first_[id] : bytes_[id]; }
  void Append(std::string_view text, DecodeState& state, std::string& out) const;
  std::string_view StripFront(std::string_view text, DecodeState& state) const;

  PieceTable bytes_;
  PieceTable first_;
  PieceTable last_;
  EndStrip strip_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_DECODE_TABLE_H_
