#include "engine/pooling.h"

#include <cmath>
#include <string>

#include "base/check.h"
#include "base/error.h"

namespace adit::engine {
namespace {

Result<std::string> PoolingKey(const formats::GgufFile& file) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view architecture, file.metadata().GetString("general.architecture"));
  return std::string(architecture) + ".pooling_type";
}

}  // namespace

Result<Pooling> ParsePooling(std::string_view name) {
  if (name == "none") return Pooling::kNone;
  if (name == "mean") return Pooling::kMean;
  if (name == "cls") return Pooling::kCls;
  if (name == "last") return Pooling::kLast;
  if (name == "rank") return Pooling::kRank;
  return InvalidArgument("pooling '{}' is not one of none, mean, cls, last, rank", name);
}

std::string_view PoolingName(Pooling pooling) {
  switch (pooling) {
    case Pooling::kNone:
      return "none";
    case Pooling::kMean:
      return "mean";
    case Pooling::kCls:
      return "cls";
    case Pooling::kLast:
      return "last";
    case Pooling::kRank:
      return "rank";
  }
  return "unknown";
}

bool TellsPooling(const formats::GgufFile& file) {
  const Result<std::string> key = PoolingKey(file);
  return key.ok() && file.metadata().Has(*key);
}

Result<Pooling> PoolingOf(const formats::GgufFile& file) {
  ADIT_ASSIGN_OR_RETURN(const std::string key, PoolingKey(file));
  if (!file.metadata().Has(key)) return Pooling::kMean;
  ADIT_ASSIGN_OR_RETURN(const int64_t type, file.metadata().GetInt(key));
  switch (type) {
    case 0:
      return Pooling::kNone;
    case 1:
      return Pooling::kMean;
    case 2:
      return Pooling::kCls;
    case 3:
      return Pooling::kLast;
    case 4:
      return Pooling::kRank;
    default:
      return Unsupported("gguf: {}: {} is {}; this build knows 0 (none), 1 (mean), 2 (cls), 3 (last) and 4 (rank)",
                         file.path(), key, type);
  }
}

void Pooler::Add(const float* hidden) {
  ++num_tokens_;
  switch (pooling_) {
    case Pooling::kMean:
      sums_.resize(static_cast<size_t>(hidden_dim_));
      for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(hidden[i]);
      return;
    case Pooling::kCls:
    case Pooling::kRank:
      if (num_tokens_ == 1) states_.assign(hidden, hidden + hidden_dim_);
      return;
    case Pooling::kLast:
      states_.assign(hidden, hidden + hidden_dim_);
      return;
    case Pooling::kNone:
      states_.insert(states_.end(), hidden, hidden + hidden_dim_);
      return;
  }
}

std::vector<float> Pooler::Finish(bool normalize) {
  ADIT_CHECK(num_tokens_ > 0);
  for (const double sum : sums_) states_.push_back(static_cast<float>(sum / static_cast<double>(num_tokens_)));
  if (!normalize) return std::move(states_);
  const auto dim = static_cast<size_t>(hidden_dim_);
  for (size_t row = 0; row < states_.size(); row += dim) {
    double squares = 0.0;
    for (size_t i = row; i < row + dim; ++i)
      squares += static_cast<double>(states_[i]) * static_cast<double>(states_[i]);
    if (squares == 0.0) continue;
    const double inverse = 1.0 / std::sqrt(squares);
    for (size_t i = row; i < row + dim; ++i) states_[i] = static_cast<float>(static_cast<double>(states_[i]) * inverse);
  }
  return std::move(states_);
}

}  // namespace adit::engine
