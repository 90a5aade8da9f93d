#include "eval/base_logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "eval/statistics.h"

namespace adit::eval {
namespace {

constexpr std::string_view kMagic = "_logits_";
constexpr size_t kHeaderBytes = 8 + 3 * sizeof(int32_t);
constexpr int64_t kMaxContext = int64_t{1} << 24;
constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
// Below the largest by more than this, a log-probability is not told apart.
constexpr float kRange = 16.0f;
constexpr float kLargestCode = 65535.0f;
// The two floats of a row, as many codes as take their room.
constexpr size_t kRowHeadCodes = 4;

size_t RowCodes(int64_t vocab_size) { return kRowHeadCodes + static_cast<size_t>((vocab_size + 1) / 2 * 2); }
size_t RowBytes(int64_t vocab_size) { return RowCodes(vocab_size) * sizeof(uint16_t); }

int32_t IntAt(std::span<const std::byte> bytes, size_t offset) {
  int32_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

}  // namespace

BaseLogitsWriter::BaseLogitsWriter(formats::AtomicFile file, int64_t vocab_size, int64_t num_rows)
    : file_(std::move(file)), rows_left_(num_rows), row_(RowCodes(vocab_size)) {}

Result<BaseLogitsWriter> BaseLogitsWriter::Create(const std::string& path, const TextWindows& windows,
                                                  int64_t vocab_size) {
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(path, "base logits"));
  ADIT_RETURN_IF_ERROR(file.Write(kMagic.data(), kMagic.size()));
  const std::array<int32_t, 3> sizes = {static_cast<int32_t>(windows.context), static_cast<int32_t>(vocab_size),
                                        static_cast<int32_t>(windows.num_windows())};
  ADIT_RETURN_IF_ERROR(file.Write(sizes.data(), sizeof(sizes)));
  ADIT_RETURN_IF_ERROR(file.Write(windows.tokens.data(), windows.tokens.size() * sizeof(int32_t)));
  return BaseLogitsWriter(std::move(file), vocab_size, windows.num_windows() * windows.scored_per_window());
}

Status BaseLogitsWriter::Append(std::span<const float> logits) {
  if (rows_left_ == 0) return FailedPrecondition("base logits: more rows than the windows have");
  --rows_left_;
  const auto [least, most] = std::minmax_element(logits.begin(), logits.end());
  const float lowest = std::max(*least, *most - kRange);
  const float scale = (*most - lowest) / kLargestCode;
  const auto lowest_log_prob = static_cast<float>(static_cast<double>(lowest) - LogSumExp(logits));
  std::memcpy(row_.data(), &scale, sizeof(scale));
  std::memcpy(row_.data() + 2, &lowest_log_prob, sizeof(lowest_log_prob));
  std::fill(row_.begin() + kRowHeadCodes, row_.end(), uint16_t{0});
  for (size_t i = 0; i < logits.size() && scale > 0.0f; ++i) {
    if (logits[i] > lowest) {
      row_[kRowHeadCodes + i] =
          static_cast<uint16_t>(std::min(std::nearbyint((logits[i] - lowest) / scale), kLargestCode));
    }
  }
  return file_.Write(row_.data(), row_.size() * sizeof(uint16_t));
}

Status BaseLogitsWriter::Finish() {
  if (rows_left_ != 0) return FailedPrecondition("base logits: {} rows are missing", rows_left_);
  return file_.Finish();
}

bool BaseLogits::IsOne(const std::string& path) {
  std::array<char, kMagic.size()> begin = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == kMagic;
}

Result<BaseLogits> BaseLogits::Open(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(formats::MappedFile file, formats::MappedFile::Open(path));
  ADIT_ASSIGN_OR_RETURN(BaseLogits base, Parse(file.bytes(), path));
  base.file_ = std::move(file);
  return base;
}

Result<BaseLogits> BaseLogits::Parse(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Corrupt("{}: no file of base logits: it does not begin with '{}' and three sizes", name, kMagic);
  }
  BaseLogits base;
  const int64_t context = IntAt(bytes, 8);
  base.vocab_size_ = IntAt(bytes, 12);
  const int64_t num_windows = IntAt(bytes, 16);
  if (context < 4 || context > kMaxContext || base.vocab_size_ < 1 || base.vocab_size_ > kMaxVocabulary ||
      num_windows < 1) {
    return Corrupt("{}: windows of {} tokens, a vocabulary of {}, {} windows: none is possible", name, context,
                   base.vocab_size_, num_windows);
  }
  base.windows_.context = context;
  const auto num_tokens = static_cast<size_t>(num_windows) * static_cast<size_t>(context);
  const auto num_rows = static_cast<size_t>(num_windows) * static_cast<size_t>(base.windows_.scored_per_window());
  // No product of these passes 2^31 * 2^25 * 2^24 bytes, so what the file must have is counted in two parts.
  const size_t token_bytes = num_tokens * sizeof(int32_t);
  const size_t rest_bytes = bytes.size() - kHeaderBytes;
  if (token_bytes > rest_bytes || (rest_bytes - token_bytes) / RowBytes(base.vocab_size_) != num_rows ||
      (rest_bytes - token_bytes) % RowBytes(base.vocab_size_) != 0) {
    return Corrupt("{}: {} bytes after its sizes, expected {} tokens and {} rows of {} bytes", name, rest_bytes,
                   num_tokens, num_rows, RowBytes(base.vocab_size_));
  }
  base.windows_.tokens.resize(num_tokens);
  std::memcpy(base.windows_.tokens.data(), bytes.data() + kHeaderBytes, token_bytes);
  for (size_t i = 0; i < num_tokens; ++i) {
    const int32_t token = base.windows_.tokens[i];
    if (token < 0 || token >= base.vocab_size_) {
      return Corrupt("{}: token {} at {} is not in 0..{}", name, token, i, base.vocab_size_ - 1);
    }
  }
  base.rows_ = bytes.subspan(kHeaderBytes + token_bytes);
  return base;
}

void BaseLogits::ReadRow(int64_t window, int64_t row, std::span<float> out) const {
  const auto index = static_cast<size_t>(window * windows_.scored_per_window() + row);
  const std::byte* from = rows_.data() + index * RowBytes(vocab_size_);
  float scale;
  float lowest;
  std::memcpy(&scale, from, sizeof(scale));
  std::memcpy(&lowest, from + sizeof(scale), sizeof(lowest));
  from += kRowHeadCodes * sizeof(uint16_t);
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t code;
    std::memcpy(&code, from + i * sizeof(code), sizeof(code));
    out[i] = lowest + scale * static_cast<float>(code);
  }
}

}  // namespace adit::eval
