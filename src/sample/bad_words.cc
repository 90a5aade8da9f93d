#include "sample/bad_words.h"

namespace adit::sample {
namespace {

class BadWords final : public Processor {
 public:
  explicit BadWords(const std::vector<std::vector<int32_t>>& sequences) : sequences_(sequences) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    const History history = context.history();
    for (const std::vector<int32_t>& sequence : sequences_) {
      if (history.EndsWith(std::span(sequence).first(sequence.size() - 1))) candidates.Ban(sequence.back());
    }
  }

  bool KeepsBest() const override { return false; }

 private:
  const std::vector<std::vector<int32_t>> sequences_;
};

}  // namespace

std::unique_ptr<Processor> MakeBadWords(const SamplingParams& params) {
  if (params.bad_words.empty()) return nullptr;
  return std::make_unique<BadWords>(params.bad_words);
}

}  // namespace adit::sample
