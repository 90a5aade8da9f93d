#include "sample/no_repeat_ngram.h"

#include "sample/suffix_matches.h"

namespace adit::sample {
namespace {

class NoRepeatNgram final : public Processor {
 public:
  explicit NoRepeatNgram(int64_t size) : size_(size) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    const History history = context.history();
    if (history.size() < size_) return;
    if (size_ == 1) {
      for (int64_t i = 0; i < history.size(); ++i) candidates.Ban(history.FromEnd(i));
      return;
    }
    std::vector<int32_t>& matches = context.scratch.matches;
    FindSuffixMatches(history, history.size(), size_ - 1, matches);
    for (int64_t k = 1; k < history.size(); ++k) {
      if (matches[static_cast<size_t>(k)] >= size_ - 1) candidates.Ban(history.FromEnd(k - 1));
    }
  }

  bool KeepsBest() const override { return false; }

 private:
  const int64_t size_;
};

}  // namespace

std::unique_ptr<Processor> MakeNoRepeatNgram(const SamplingParams& params) {
  if (params.no_repeat_ngram_size == 0) return nullptr;
  return std::make_unique<NoRepeatNgram>(params.no_repeat_ngram_size);
}

}  // namespace adit::sample
