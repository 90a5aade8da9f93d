#include "sample/top_k.h"

#include "sample/select_top.h"

namespace adit::sample {
namespace {

class TopK final : public Processor {
 public:
  explicit TopK(int64_t k) : k_(k) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    if (k_ >= candidates.size()) return;
    SelectTopUnordered(candidates.logits(), k_, context.scratch.ranked);
    candidates.Keep(context.scratch.ranked.back());
  }

  bool KeepsBest() const override { return true; }

 private:
  const int64_t k_;
};

}  // namespace

std::unique_ptr<Processor> MakeTopK(const SamplingParams& params) {
  if (params.top_k < 1) return nullptr;
  return std::make_unique<TopK>(params.top_k);
}

}  // namespace adit::sample
