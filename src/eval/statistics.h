#ifndef ADIT_EVAL_STATISTICS_H_
#define ADIT_EVAL_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace adit::eval {

// Log of the sum of exp(x) over a row, in double precision. Not finite where the row is not.
double LogSumExp(std::span<const float> row);

// The mean of numbers and how far it may be off: the standard error, from their variance.
class MeanWithError {
 public:
  void Add(double value) {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }

  int64_t count() const { return count_; }
  double mean() const { return mean_; }
  double error() const;

 private:
  // Welford's recurrence.
  int64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;
};

// The value below which a share `q`, 0 to 1, of `sorted` lies, between two neighbours in proportion. 0 of none.
double Quantile(std::span<const double> sorted, double q);

// How a model fits a text: negative log-likelihoods, in nats, of tokens after what was before them.
class Perplexity {
 public:
  void Add(double nll) { nll_.Add(nll); }

  int64_t count() const { return nll_.count(); }
  double nll() const { return nll_.mean(); }
  double value() const;
  // Standard error of value(), to first order.
  double error() const { return nll_.error() * value(); }

 private:
  MeanWithError nll_;
};

// How the predictions of a model differ from those of a base: the Kullback-Leibler divergence of its distribution from
// the base's at each position, in nats.
class Divergence {
 public:
  // Log-probabilities of the base up to `least` are taken for none.
  explicit Divergence(float least = -std::numeric_limits<float>::infinity()) : least_(least) {}

  // One position. `base` holds log-probabilities, `logits` the model's own numbers, both [vocab_size]; `next` is the
  // token that follows in the text.
  void Add(std::span<const float> base, std::span<const float> logits, int32_t next);

  const Perplexity& base_perplexity() const { return base_; }
  const Perplexity& perplexity() const { return model_; }
  const MeanWithError& divergence() const { return divergence_; }
  // Of the log of the ratio of perplexities; its error is smaller than that of either, since both see the same tokens.
  const MeanWithError& log_ratio() const { return log_ratio_; }
  // Share of the positions at which both hold the same token for the most likely.
  const MeanWithError& same_top() const { return same_top_; }
  // Change of the probability of the token that follows, model less base.
  const MeanWithError& probability_change() const { return change_; }
  double probability_change_rms() const;
  // Quantiles of the divergences, and the largest for 1.
  double DivergenceQuantile(double q) const;

 private:
  float least_;
  Perplexity base_;
  Perplexity model_;
  MeanWithError divergence_;
  MeanWithError log_ratio_;
  MeanWithError same_top_;
  MeanWithError change_;
  MeanWithError change_squared_;
  mutable std::vector<double> divergences_;  // sorted when a quantile is asked for
  mutable bool is_sorted_ = true;
};

}  // namespace adit::eval

#endif  // ADIT_EVAL_STATISTICS_H_
