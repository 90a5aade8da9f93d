#include "sample/allowed_tokens.h"

#include <algorithm>
#include <utility>

namespace adit::sample {
namespace {

class AllowedTokens final : public Processor {
 public:
  explicit AllowedTokens(std::vector<int32_t> ids) : ids_(std::move(ids)) {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }

  void Apply(const SampleContext&, Candidates& candidates) const override { candidates.KeepIds(ids_); }

  bool KeepsBest() const override { return false; }

 private:
  std::vector<int32_t> ids_;  // rising, constant after construction
};

}  // namespace

std::unique_ptr<Processor> MakeAllowedTokens(const SamplingParams& params) {
  if (params.allowed_token_ids.empty()) return nullptr;
  return std::make_unique<AllowedTokens>(params.allowed_token_ids);
}

}  // namespace adit::sample
