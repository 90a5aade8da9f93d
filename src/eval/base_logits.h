#ifndef ADIT_EVAL_BASE_LOGITS_H_
#define ADIT_EVAL_BASE_LOGITS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "eval/text_windows.h"
#include "formats/atomic_file.h"
#include "formats/mapped_file.h"

namespace adit::eval {

// What a base model predicted for the windows of a text, in the file that llama.cpp's perplexity tool writes with
// --kl-divergence-base. Little-endian: "_logits_"; int32 context, vocab_size, num_windows; int32 tokens[num_windows *
// context]; then for each scored position of each window a row: float scale, float lowest; uint16 code[vocab_size],
// padded to an even number. A log-probability is lowest + scale * code; those more than 16 nats below the row's largest
// are cut there.

// Writes rows in the order of windows. The file appears whole or not at all. Movable; one thread at a time.
class BaseLogitsWriter {
 public:
  // InvalidArgument for a folder as `path`, Io when the system refuses.
  static Result<BaseLogitsWriter> Create(const std::string& path, const TextWindows& windows, int64_t vocab_size);

  // The next row, [vocab_size].
  Status Append(std::span<const float> logits);
  // FailedPrecondition when rows are missing.
  Status Finish();

 private:
  BaseLogitsWriter(formats::AtomicFile file, int64_t vocab_size, int64_t num_rows);

  formats::AtomicFile file_;
  int64_t rows_left_;
  std::vector<uint16_t> row_;
};

// Reads them, mapped. Movable.
class BaseLogits {
 public:
  // Whether the file begins as one does; false too where it cannot be read.
  static bool IsOne(const std::string& path);
  // NotFound, InvalidArgument or Io as MappedFile; Corrupt, by what and where, for a file that is none, has sizes that
  // disagree, or tokens outside its vocabulary.
  static Result<BaseLogits> Open(const std::string& path);
  // The same over bytes in memory, which outlive it: for tests and fuzzing.
  static Result<BaseLogits> Parse(std::span<const std::byte> bytes, const std::string& name);

  // Without BOS: the file does not say whether the base had one.
  const TextWindows& windows() const { return windows_; }
  int64_t vocab_size() const { return vocab_size_; }
  // Log-probabilities up to this are cut to it: nothing is known of them but that.
  static constexpr float kLeast = -16.0f;
  // Log-probabilities of scored position `row` of a window, in `out` [vocab_size].
  void ReadRow(int64_t window, int64_t row, std::span<float> out) const;

 private:
  std::optional<formats::MappedFile> file_;  // none over bytes in memory
  TextWindows windows_;
  int64_t vocab_size_ = 0;
  std::span<const std::byte> rows_;
};

}  // namespace adit::eval

#endif  // ADIT_EVAL_BASE_LOGITS_H_
