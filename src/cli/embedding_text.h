#ifndef ADIT_CLI_EMBEDDING_TEXT_H_
#define ADIT_CLI_EMBEDDING_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

// What `adit embed` writes.
namespace adit::cli {

// One text's embedding: rows of `dim` numbers, one row unless it was not pooled.
struct EmbeddingRows {
  std::span<const float> numbers;
  size_t dim = 0;
  bool pooled = true;
};

// Each row on a line of its own, numbers between spaces; of one that was not pooled, an empty line after them.
std::string EmbeddingLines(const EmbeddingRows& rows);

// {"index":...,"tokens":...,"embedding":[...]}, with a list of lists where it was not pooled. A number that JSON does
// not have is null.
std::string EmbeddingJson(int64_t index, int64_t num_tokens, const EmbeddingRows& rows);

}  // namespace adit::cli

#endif  // ADIT_CLI_EMBEDDING_TEXT_H_
