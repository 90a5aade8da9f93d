#include "sample/top_p.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sample/crossing.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

// Candidates are not sorted: their weights are summed in buckets by the distance from the best logit, and only in the
// bucket in which the sum reaches its goal does their order matter. Buckets are 1/128 wide, so few candidates share
// one, and reach 32 below the best, where a weight is 1e-14; the last one holds what lies beyond. 4096 sums are 32 KiB.
constexpr size_t kBuckets = 4096;
constexpr float kBucketsPerUnit = 128.0f;
constexpr size_t kBucketChunk = 256;

// So few candidates are one bucket: clearing and adding up 4096 sums would take longer than the rest.
constexpr size_t kFewCandidates = 1024;

// The buckets of up to kBucketChunk candidates. They rise as the logit falls; a distance of inf, that of a logit of
// -inf, falls into the last one.
using BucketChunk = std::array<int32_t, kBucketChunk>;
void FindBuckets(std::span<const float> logits, float max, BucketChunk& buckets) {
  for (size_t i = 0; i < logits.size(); ++i) {
    const float bucket = (max - logits[i]) * kBucketsPerUnit;
    buckets[i] = static_cast<int32_t>(bucket < kBuckets - 1 ? bucket : kBuckets - 1);
  }
}

std::span<const float> ChunkAt(std::span<const float> logits, size_t begin) {
  return logits.subspan(begin, std::min(kBucketChunk, logits.size() - begin));
}

void SumByBucket(std::span<const float> logits, float max, std::span<double, kBuckets> sums) {
  std::array<float, kBucketChunk> weights;
  BucketChunk buckets;
  for (size_t begin = 0; begin < logits.size(); begin += kBucketChunk) {
    const std::span<const float> chunk = ChunkAt(logits, begin);
    FindBuckets(chunk, max, buckets);
    ExpWeights(chunk, max, std::span(weights).first(chunk.size()));
    for (size_t i = 0; i < chunk.size(); ++i) sums[static_cast<size_t>(buckets[i])] += weights[i];
  }
}

void Gather(std::span<const float> logits, float max, int32_t bucket, std::vector<Ranked>& out) {
  BucketChunk buckets;
  for (size_t begin = 0; begin < logits.size(); begin += kBucketChunk) {
    const std::span<const float> chunk = ChunkAt(logits, begin);
    FindBuckets(chunk, max, buckets);
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (buckets[i] == bucket) out.push_back({chunk[i], static_cast<int64_t>(begin + i)});
    }
  }
}

// Where the smallest set of best candidates ends whose share of the weight reaches `p`, a number below 1.
Ranked FindNucleusEnd(std::span<const float> logits, double p, std::vector<Ranked>& scratch) {
  const float max = MaxLogit(logits);
  scratch.clear();
  scratch.reserve(logits.size());
  if (logits.size() <= kFewCandidates) {
    for (size_t i = 0; i < logits.size(); ++i) scratch.push_back({logits[i], static_cast<int64_t>(i)});
    return FindCrossing(scratch, logits, max, 0, p * SumExp(logits, max));
  }
  std::array<double, kBuckets> sums{};
  SumByBucket(logits, max, sums);
  double total = 0;
  for (const double sum : sums) total += sum;
  const double goal = p * total;

  // Ends inside: `reached` goes through the values that `total` had, and the last of them is not below the goal.
  size_t bucket = 0;
  double reached = 0;  // by the buckets before it
  while (sums[bucket] == 0 || reached + sums[bucket] < goal) reached += sums[bucket++];

  Gather(logits, max, static_cast<int32_t>(bucket), scratch);
  return FindCrossing(scratch, logits, max, reached, goal);
}

class TopP final : public Processor {
 public:
  explicit TopP(double p) : p_(p) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    candidates.Keep(FindNucleusEnd(candidates.logits(), p_, context.scratch.ranked));
  }

  bool KeepsBest() const override { return true; }

 private:
  const double p_;
};

}  // namespace

std::unique_ptr<Processor> MakeTopP(const SamplingParams& params) {
  if (params.top_p >= 1) return nullptr;
  return std::make_unique<TopP>(params.top_p);
}

}  // namespace adit::sample
