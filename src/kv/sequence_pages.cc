#include "kv/sequence_pages.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace adit::kv {
namespace {

int64_t PagesFor(int64_t num_tokens, int64_t block_size) { return (num_tokens + block_size - 1) / block_size; }

}  // namespace

int64_t PageGroups::MostPages(int64_t num_tokens, int64_t max_step) const {
  int64_t pages = 0;
  for (const int64_t window : windows) {
    const int64_t all = PagesFor(num_tokens, block_size);
    // What the first query of a step looks back to, and the step, which may begin and end inside a page.
    pages += window == 0 ? all : std::min(all, PagesFor(window + max_step, block_size) + 1);
  }
  return pages;
}

SequencePages::SequencePages(BlockPool& pool, const PageGroups& groups, int64_t max_tokens)
    : pool_(&pool), windows_(groups.windows) {
  tables_.reserve(windows_.size());
  for (size_t i = 0; i < windows_.size(); ++i) tables_.emplace_back(pool, groups.block_size, max_tokens);
  views_.resize(windows_.size());
  Refresh();
}

void SequencePages::Refresh() {
  for (size_t i = 0; i < tables_.size(); ++i) views_[i] = tables_[i].ids();
}

int64_t SequencePages::PagesToReserve(int64_t num_tokens) const {
  int64_t pages = 0;
  for (const BlockTable& table : tables_) pages += table.BlocksToReserve(num_tokens);
  return pages;
}

bool SequencePages::Reserve(int64_t num_tokens) {
  if (PagesToReserve(num_tokens) > pool_->num_free()) return false;
  for (BlockTable& table : tables_) {
    const bool reserved = table.Reserve(num_tokens);
    ADIT_CHECK(reserved);
  }
  Refresh();
  return true;
}

void SequencePages::Truncate(int64_t num_tokens) {
  for (BlockTable& table : tables_) table.Truncate(num_tokens);
  Refresh();
}

void SequencePages::ReleaseBehind(int64_t position) {
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (windows_[i] > 0 && position >= windows_[i]) tables_[i].ReleaseBefore(position - windows_[i] + 1);
  }
}

int64_t SequencePages::PagesToMakeWritable(int64_t position) const {
  int64_t pages = 0;
  for (const BlockTable& table : tables_) {
    const auto index = static_cast<size_t>(position / table.block_size());
    if (index < table.ids().size() && pool_->ref_count(table.ids()[index]) > 1) ++pages;
  }
  return pages;
}

bool SequencePages::MakeWritable(int64_t position, std::vector<BlockCopy>& copies) {
  if (PagesToMakeWritable(position) > pool_->num_free()) return false;
  for (BlockTable& table : tables_) {
    const int64_t index = position / table.block_size();
    if (index >= table.num_blocks()) continue;
    const WritableBlock block = table.MakeWritable(index);
    ADIT_CHECK(block.state != WritableBlock::State::kNoFreeBlock);
    if (block.state == WritableBlock::State::kCopied) copies.push_back({.from = block.from.id(), .to = block.to});
  }
  Refresh();
  return true;
}

int64_t SequencePages::Adopt(PrefixMatch match, std::vector<BlockCopy>& copies) {
  ADIT_CHECK(num_pages() == 0);
  for (size_t i = 0; i < tables_.size() && match.num_tokens > 0; ++i) {
    for (BlockHandle& block : match.blocks[i]) tables_[i].Append(std::move(block));
  }
  int64_t num_tokens = match.num_tokens;
  if (match.partial_tokens > 0 && Reserve(num_tokens + match.partial_tokens)) {
    for (size_t i = 0; i < tables_.size(); ++i) {
      copies.push_back({.from = match.partial[i].id(), .to = tables_[i].ids().back()});
    }
    num_tokens += match.partial_tokens;
  }
  Refresh();
  return num_tokens;
}

SequencePages SequencePages::Fork(int64_t max_tokens) const {
  SequencePages fork;
  fork.pool_ = pool_;
  fork.windows_ = windows_;
  fork.tables_.reserve(tables_.size());
  for (const BlockTable& table : tables_) fork.tables_.push_back(table.Fork(max_tokens));
  fork.views_.resize(tables_.size());
  fork.Refresh();
  return fork;
}

int64_t SequencePages::num_pages() const {
  int64_t pages = 0;
  for (const BlockTable& table : tables_) pages += table.num_blocks() - table.num_released();
  return pages;
}

int64_t SequencePages::WrittenTokens(int64_t num_tokens) const {
  int64_t written = 0;
  for (const BlockTable& table : tables_) {
    // Only the pages behind num_tokens are not written.
    const int64_t unwritten = table.capacity_tokens() - std::min(num_tokens, table.capacity_tokens());
    written += (table.num_blocks() - table.num_released()) * table.block_size() - unwritten;
  }
  return written;
}

}  // namespace adit::kv
