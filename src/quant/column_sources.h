#ifndef ADIT_QUANT_COLUMN_SOURCES_H_
#define ADIT_QUANT_COLUMN_SOURCES_H_

#include <cstdint>
#include <span>
#include <vector>

// Which element of what gives an input each column of the input is, where several columns are the same one: several
// heads of queries attend to one head of values. Such columns have one factor.
namespace adit::quant {

// [n] of columns; empty: each column is an element by itself.
using ColumnSources = std::span<const int64_t>;

// For outputs [n] of attention: element `head / heads_per_kv_head * v_dim + i` for column `head * v_dim + i`.
std::vector<int64_t> SourcesOfAttended(int64_t n, int64_t v_dim, int64_t heads_per_kv_head);

// Every column's value, none below 0, becomes the mean, or the largest, of those of all columns with its source.
std::vector<float> MeanOfSources(std::vector<float> values, ColumnSources sources);
std::vector<float> LargestOfSources(std::vector<float> values, ColumnSources sources);

}  // namespace adit::quant

#endif  // ADIT_QUANT_COLUMN_SOURCES_H_
