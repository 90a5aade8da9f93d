#ifndef ADIT_SAMPLE_CANDIDATES_H_
#define ADIT_SAMPLE_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace adit::sample {

// A place in a ranking: candidates rank by logit falling, equal ones by their index (or id, the order is the same)
// rising.
struct Ranked {
  float logit = 0;
  int64_t index = 0;
};
constexpr bool RanksBefore(const Ranked& a, const Ranked& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.index < b.index);
}

constexpr bool CanBePicked(float logit) { return logit > -std::numeric_limits<float>::infinity(); }

// The nearest finite logit. A penalty may neither ban a token nor make it certain.
float ToFinite(double logit);

// The tokens still in the running, with their logits as changed so far. Steps of a sampler change logits and drop
// candidates; how many times the list was made anew, memory is allocated only when it is longer than ever before.
//
// Invariants:
// 1. Ids rise strictly with the index.
// 2. No logit is NaN or +inf. A candidate whose logit is -inf cannot be picked.
// 3. Once one can be picked, one always can: whoever writes logits leaves one finite, and Keep keeps the best. Bans
//    alone may end this; whoever bans looks.
class Candidates {
 public:
  // All tokens of a row of logits, whose largest is `max`. NaN becomes -inf. Where `max` is +inf, the logits become
  // those of the limit: 0 for tokens that have it, -inf for others.
  void Reset(std::span<const float> logits, float max);

  // Sets memory aside for rows of this length.
  void Reserve(int64_t vocab_size);

  // Drops what ranks behind `last`, which need not be a candidate itself.
  void Keep(Ranked last);

  // Drops the candidates for which keep(Ranked) is false. Precondition: it is true for one that can be picked.
  template <typename Predicate>
  void KeepWhere(const Predicate& keep);

  // Drops tokens other than these. Preconditions: ids rise strictly, each in 0..vocab_size-1; none has been dropped.
  void KeepIds(std::span<const int32_t> ids);

  // Drops tokens whose bit is not set: bit i % 32 of word i / 32 is that of token i. Precondition: the mask has a bit
  // for every token.
  void KeepMask(std::span<const uint32_t> mask);

  // The token cannot be picked from now on.
  void Ban(int32_t token_id);

  int64_t size() const { return static_cast<int64_t>(size_); }
  // The length of the row that Reset was given.
  int64_t vocab_size() const { return static_cast<int64_t>(logits_.size()); }

  std::span<float> logits() { return {logits_.data(), size_}; }
  std::span<const float> logits() const { return {logits_.data(), size_}; }
  // Precondition: index in 0..size-1.
  int32_t id(int64_t index) const { return whole_ ? static_cast<int32_t>(index) : ids_[static_cast<size_t>(index)]; }
  // The index of a token id; -1 when it is no candidate.
  int64_t Find(int32_t token_id) const;

 private:
  std::vector<float> logits_;  // [vocab_size], the first size_ in use
  std::vector<int32_t> ids_;   // [vocab_size] once anything was dropped, the first size_ in use unless whole_
  size_t size_ = 0;
  bool whole_ = true;  // nothing has been dropped: ids are indices
};

template <typename Predicate>
void Candidates::KeepWhere(const Predicate& keep) {
  if (whole_) ids_.resize(logits_.size());
  size_t kept = 0;
  for (size_t i = 0; i < size_; ++i) {
    const Ranked candidate{logits_[i], static_cast<int64_t>(i)};
    if (!keep(candidate)) continue;
    ids_[kept] = id(candidate.index);
    logits_[kept++] = candidate.logit;
  }
  size_ = kept;
  whole_ = false;
}

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_CANDIDATES_H_
