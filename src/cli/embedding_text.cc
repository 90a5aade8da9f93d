#include "cli/embedding_text.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

namespace adit::cli {
namespace {

// The shortest digits that read back as the same float.
void Append(float number, std::string& out) { fmt::format_to(std::back_inserter(out), "{}", number); }

void AppendJson(std::span<const float> numbers, std::string& out) {
  out += '[';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    if (std::isfinite(numbers[i])) {
      Append(numbers[i], out);
    } else {
      out += "null";
    }
  }
  out += ']';
}

}  // namespace

std::string EmbeddingLines(const EmbeddingRows& rows) {
  std::string out;
  for (size_t begin = 0; begin < rows.numbers.size(); begin += rows.dim) {
    for (size_t i = begin; i < begin + rows.dim; ++i) {
      if (i > begin) out += ' ';
      Append(rows.numbers[i], out);
    }
    out += '\n';
  }
  if (!rows.pooled) out += '\n';
  return out;
}

std::string EmbeddingJson(int64_t index, int64_t num_tokens, const EmbeddingRows& rows) {
  std::string out = fmt::format("{{\"index\":{},\"tokens\":{},\"embedding\":", index, num_tokens);
  if (rows.pooled) {
    AppendJson(rows.numbers, out);
  } else {
    out += '[';
    for (size_t begin = 0; begin < rows.numbers.size(); begin += rows.dim) {
      if (begin > 0) out += ',';
      AppendJson(rows.numbers.subspan(begin, rows.dim), out);
    }
    out += ']';
  }
  return out + "}\n";
}

}  // namespace adit::cli
