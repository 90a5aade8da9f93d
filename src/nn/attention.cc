#include "nn/attention.h"

#include <algorithm>
#include <limits>

namespace adit::nn {
namespace {

using kernels::kAttentionChunk;

// (query, head) pairs that share one reading of the keys: 48 scores of a chunk are 48 KiB, which a second-level cache
// holds.
constexpr int64_t kPairsPerTile = 48;
// Enough for 16 heads of 128 at a context of half a million; a batch that needs more is not split, which costs time
// only.
constexpr int64_t kSplitStateBytes = int64_t{32} << 20;

int64_t RoundUpToLine(int64_t floats) { return (floats + 15) / 16 * 16; }

void ClearStates(float* states, int64_t count, int64_t state_floats) {
  std::fill(states, states + count * state_floats, 0.0f);
  for (int64_t i = 0; i < count; ++i) states[i * state_floats] = -std::numeric_limits<float>::infinity();
}

// Chunks that some query of positions [first, last] sees.
struct ChunkRange {
  int64_t begin;
  int64_t end;
};
ChunkRange VisibleChunks(int64_t first, int64_t last, int64_t window) {
  const int64_t oldest = window > 0 ? std::max<int64_t>(0, first - window + 1) : 0;
  return {oldest / kAttentionChunk, last / kAttentionChunk + 1};
}

}  // namespace

Result<AttentionScratch> AttentionScratch::Create(int num_workers, int max_heads_per_kv, int max_v_dim) {
  AttentionScratch scratch;
  scratch.queries_per_tile_ = std::clamp<int64_t>(kPairsPerTile / max_heads_per_kv, 1, kernels::kMaxAttendQueries);
  scratch.state_floats_ =
      RoundUpToLine(kernels::kMaxAttendQueries * max_heads_per_kv * kernels::AttnStateFloats(max_v_dim));
  scratch.worker_floats_ =
      scratch.state_floats_ + RoundUpToLine(kernels::AttendScratchFloats(max_heads_per_kv, max_v_dim));
  ADIT_ASSIGN_OR_RETURN(
      scratch.worker_scratch_,
      AlignedBuffer::Allocate(static_cast<size_t>(num_workers * scratch.worker_floats_) * sizeof(float),
                              "attention scratch"));
  ADIT_ASSIGN_OR_RETURN(scratch.split_states_,
                        AlignedBuffer::Allocate(static_cast<size_t>(kSplitStateBytes), "attention scratch"));
  scratch.split_floats_ = kSplitStateBytes / static_cast<int64_t>(sizeof(float));
  return scratch;
}

void AttentionScratch::Plan(const ForwardBatch& batch) {
  tiles_.clear();
  for (size_t i = 0; i < batch.sequences.size(); ++i) {
    const int64_t num_rows = batch.sequences[i].num_rows;
    for (int64_t begin = 0; begin < num_rows; begin += queries_per_tile_) {
      tiles_.push_back({i, begin, std::min(begin + queries_per_tile_, num_rows)});
    }
  }
}

// One worker's part of one call of Attend.
class AttentionRun {
 public:
  AttentionRun(Worker& worker, const kernels::KernelTable& kernels, const AttentionConfig& config,
               const ForwardBatch& batch, const AttentionInput& input, AttentionScratch& scratch)
      : worker_(worker), kernels_(kernels), config_(config), batch_(batch), input_(input), scratch_(scratch) {}

  void Run() {
    if (ShouldSplit()) {
      RunSplit();
    } else {
      RunWhole();
    }
  }

 private:
  using Tile = AttentionScratch::Tile;

  // What one (tile, KV head) of a split run needs: its chunks, and where their states lie.
  struct Split {
    const Tile& tile;
    int kv_head;
    ChunkRange chunks;
    float* states;         // [num_chunks, chunk_floats]
    int64_t chunk_floats;  // states of all queries and heads of one chunk

    int64_t num_chunks() const { return chunks.end - chunks.begin; }
  };

  // True when whole tiles would leave workers idle and there are chunks to share out. The same for every worker.
  bool ShouldSplit() const {
    if (worker_.count() == 1 || num_items() >= 2 * worker_.count()) return false;
    int64_t num_chunks = 0;
    int64_t floats = 0;
    for (const Tile& tile : scratch_.tiles_) {
      const ChunkRange chunks = ChunksOf(tile);
      num_chunks += chunks.end - chunks.begin;
      floats += (chunks.end - chunks.begin) * TileFloats(tile) * config_.num_kv_heads;
    }
    return num_chunks > static_cast<int64_t>(scratch_.tiles_.size()) && floats <= scratch_.split_floats_;
  }

  void RunWhole() {
    float* states = own_memory();
    for (int64_t item; (item = worker_.Claim()) < num_items();) {
      const Tile& tile = scratch_.tiles_[static_cast<size_t>(item / config_.num_kv_heads)];
      const int kv_head = static_cast<int>(item % config_.num_kv_heads);
      AttendChunks(tile, kv_head, ChunksOf(tile), states);
      Finish(tile, kv_head, states);
    }
  }

  // Each chunk of each (tile, KV head) is a piece with states of its own; then whoever claims a (tile, KV head) merges
  // its chunks in order.
  void RunSplit() {
    int64_t piece = worker_.Claim();
    int64_t first_piece = 0;
    ForEachSplit([&](const Split& split) {
      for (; piece < first_piece + split.num_chunks(); piece = worker_.Claim()) {
        const int64_t index = piece - first_piece;
        const int64_t chunk = split.chunks.begin + index;
        AttendChunks(split.tile, split.kv_head, {chunk, chunk + 1}, split.states + index * split.chunk_floats);
      }
      first_piece += split.num_chunks();
    });
    worker_.Barrier();
    piece = worker_.Claim();
    int64_t index = 0;
    ForEachSplit([&](const Split& split) {
      if (piece == index++) {
        Merge(split);
        Finish(split.tile, split.kv_head, split.states);
        piece = worker_.Claim();
      }
    });
  }

  template <typename Body>
  void ForEachSplit(const Body& body) const {
    float* states = scratch_.split_states_.as<float>();
    for (const Tile& tile : scratch_.tiles_) {
      for (int kv_head = 0; kv_head < config_.num_kv_heads; ++kv_head) {
        const Split split{tile, kv_head, ChunksOf(tile), states, TileFloats(tile)};
        body(split);
        states += split.num_chunks() * split.chunk_floats;
      }
    }
  }

  void AttendChunks(const Tile& tile, int kv_head, ChunkRange chunks, float* states) {
    const SequenceRows& rows = batch_.sequences[tile.sequence];
    ClearStates(states, (tile.query_end - tile.query_begin) * heads_per_kv(), state_floats());
    kernels_.attend({.q = input_.q + rows.row_begin * input_.q_stride,
                     .q_stride = input_.q_stride,
                     .kv = input_.kv,
                     .block_table = rows.block_tables[input_.kv_group].data(),
                     .first_position = rows.first_position,
                     .seen_by_all = config_.causal ? 0 : rows.first_position + rows.num_rows,
                     .window = config_.window,
                     .heads_per_kv = heads_per_kv(),
                     .scale = config_.scale,
                     .softcap = config_.softcap},
                    {.kv_head = kv_head,
                     .query_begin = tile.query_begin,
                     .query_end = tile.query_end,
                     .chunk_begin = chunks.begin,
                     .chunk_end = chunks.end,
                     .states = states,
                     .scratch = own_memory() + scratch_.state_floats_});
  }

  void Merge(const Split& split) const {
    for (int64_t index = 1; index < split.num_chunks(); ++index) {
      const float* from = split.states + index * split.chunk_floats;
      for (int64_t i = 0; i < split.chunk_floats; i += state_floats()) {
        kernels_.merge_states(from + i, split.states + i, config_.v_dim);
      }
    }
  }

  void Finish(const Tile& tile, int kv_head, const float* states) const {
    const int64_t first_row = batch_.sequences[tile.sequence].row_begin;
    for (int64_t query = tile.query_begin; query < tile.query_end; ++query) {
      float* out = input_.out + (first_row + query) * input_.out_stride + kv_head * heads_per_kv() * config_.v_dim;
      for (int head = 0; head < heads_per_kv(); ++head, states += state_floats()) {
        kernels_.finish_state(states, out + head * config_.v_dim, config_.v_dim);
      }
    }
  }

  ChunkRange ChunksOf(const Tile& tile) const {
    const SequenceRows& rows = batch_.sequences[tile.sequence];
    const int64_t last = config_.causal ? tile.query_end : rows.num_rows;
    return VisibleChunks(rows.first_position + tile.query_begin, rows.first_position + last - 1, config_.window);
  }

  int64_t num_items() const { return static_cast<int64_t>(scratch_.tiles_.size()) * config_.num_kv_heads; }
  int heads_per_kv() const { return config_.num_heads / config_.num_kv_heads; }
  int64_t state_floats() const { return kernels::AttnStateFloats(config_.v_dim); }
  int64_t TileFloats(const Tile& tile) const {
    return (tile.query_end - tile.query_begin) * heads_per_kv() * state_floats();
  }
  float* own_memory() const { return scratch_.worker_scratch_.as<float>() + worker_.index() * scratch_.worker_floats_; }

  Worker& worker_;
  const kernels::KernelTable& kernels_;
  const AttentionConfig& config_;
  const ForwardBatch& batch_;
  const AttentionInput& input_;
  AttentionScratch& scratch_;
};

void Attend(Worker& worker, const kernels::KernelTable& kernels, const AttentionConfig& config,
            const ForwardBatch& batch, const AttentionInput& input, AttentionScratch& scratch) {
  AttentionRun(worker, kernels, config, batch, input, scratch).Run();
}

}  // namespace adit::nn
