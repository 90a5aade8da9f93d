#include "sample/candidates.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Candidates that are dropped with one comparison when the best of them is not kept.
constexpr size_t kCandidateChunk = 64;

}  // namespace

float ToFinite(double logit) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(logit, -kMax, kMax));
}

void Candidates::Reserve(int64_t vocab_size) {
  logits_.reserve(static_cast<size_t>(vocab_size));
  ids_.reserve(static_cast<size_t>(vocab_size));
}

void Candidates::Reset(std::span<const float> logits, float max) {
  logits_.resize(logits.size());
  size_ = logits.size();
  whole_ = true;
  if (max == kInfinity) {
    for (size_t i = 0; i < size_; ++i) logits_[i] = logits[i] == kInfinity ? 0.0f : -kInfinity;
    return;
  }
  for (size_t i = 0; i < size_; ++i) logits_[i] = logits[i] > -kInfinity ? logits[i] : -kInfinity;
}

void Candidates::Keep(Ranked last) {
  if (whole_) ids_.resize(logits_.size());
  size_t kept = 0;
  const auto last_index = static_cast<size_t>(last.index);
  for (size_t begin = 0; begin < size_; begin += kCandidateChunk) {
    const size_t end = std::min(begin + kCandidateChunk, size_);
    if (MaxLogit({&logits_[begin], end - begin}) < last.logit) continue;
    for (size_t i = begin; i < end; ++i) {
      // Without branches: where most of a row stays or half of it, they would be guessed wrong all the time.
      const float logit = logits_[i];
      const int equal = logit == last.logit ? 1 : 0;
      const int keep = (logit > last.logit ? 1 : 0) | (equal & (i <= last_index ? 1 : 0));
      logits_[kept] = logit;
      ids_[kept] = id(static_cast<int64_t>(i));
      kept += static_cast<size_t>(keep);
    }
  }
  size_ = kept;
  whole_ = false;
}

void Candidates::KeepIds(std::span<const int32_t> ids) {
  ADIT_DCHECK(whole_);
  ids_.resize(logits_.size());
  size_ = ids.size();
  for (size_t i = 0; i < size_; ++i) {
    logits_[i] = logits_[static_cast<size_t>(ids[i])];
    ids_[i] = ids[i];
  }
  whole_ = false;
}

void Candidates::KeepMask(std::span<const uint32_t> mask) {
  ADIT_DCHECK(mask.size() * 32 >= logits_.size());
  if (whole_) ids_.resize(logits_.size());
  size_t kept = 0;
  if (!whole_) {
    for (size_t i = 0; i < size_; ++i) {
      const auto token = static_cast<uint32_t>(ids_[i]);
      if ((mask[token / 32] >> (token % 32) & 1U) == 0) continue;
      logits_[kept] = logits_[i];
      ids_[kept++] = ids_[i];
    }
  } else {
    for (size_t word = 0; word * 32 < size_; ++word) {
      const size_t left = size_ - word * 32;
      uint32_t bits = left >= 32 ? mask[word] : mask[word] & ((uint32_t{1} << left) - 1);
      for (; bits != 0; bits &= bits - 1) {
        const size_t token = word * 32 + static_cast<size_t>(std::countr_zero(bits));
        logits_[kept] = logits_[token];
        ids_[kept++] = static_cast<int32_t>(token);
      }
    }
  }
  size_ = kept;
  whole_ = false;
}

void Candidates::Ban(int32_t token_id) {
  const int64_t index = Find(token_id);
  if (index >= 0) logits_[static_cast<size_t>(index)] = -kInfinity;
}

int64_t Candidates::Find(int32_t token_id) const {
  if (whole_) return token_id >= 0 && token_id < size() ? token_id : -1;
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(size_);
  const auto found = std::lower_bound(ids_.begin(), end, token_id);
  return found != end && *found == token_id ? found - ids_.begin() : -1;
}

}  // namespace adit::sample
