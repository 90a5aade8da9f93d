#ifndef ADIT_ENGINE_POOLING_H_
#define ADIT_ENGINE_POOLING_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf.h"

namespace adit::engine {

// How the hidden states of a text's tokens become its embedding.
enum class Pooling : uint8_t {
  kNone,  // they do not: one for each token
  kMean,  // their mean
  kCls,   // that of the first token
  kLast,  // that of the last token
  kRank,  // what a classifier makes of that of the first token: a number for each label
};

// How the embedding of one text is made.
struct EmbeddingForm {
  Pooling pooling = Pooling::kMean;
  bool normalize = false;  // to Euclidean length 1
  // The token that the second text of a pair begins with; none is by itself.
  int64_t second_text = std::numeric_limits<int64_t>::max();
};

// "none", "mean", "cls", "last" or "rank".
Result<Pooling> ParsePooling(std::string_view name);
std::string_view PoolingName(Pooling pooling);
// Whether the file has a pooling_type: it is of a model that is made for embeddings.
bool TellsPooling(const formats::GgufFile& file);
// What the file's pooling_type says; kMean where it says nothing. Unsupported for a kind that is not one of Pooling.
Result<Pooling> PoolingOf(const formats::GgufFile& file);

// Takes the hidden states of one text, in order, and gives its embedding; with kRank, what the classifier reads. The
// same bits however they come.
class Pooler {
 public:
  Pooler(Pooling pooling, int64_t hidden_dim) : pooling_(pooling), hidden_dim_(hidden_dim) {}

  void Add(const float* hidden);  // [hidden_dim]
  // [hidden_dim], or [num_tokens, hidden_dim] with kNone. With `normalize` each row has Euclidean length 1, unless it
  // is zero. Precondition: there was a token.
  std::vector<float> Finish(bool normalize);

 private:
  Pooling pooling_;
  int64_t hidden_dim_;
  int64_t num_tokens_ = 0;
  std::vector<double> sums_;   // of kMean
  std::vector<float> states_;  // of the others: what is kept
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_POOLING_H_
