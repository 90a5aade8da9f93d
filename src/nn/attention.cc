#include "nn/attention.h"

#include <algorithm>
#include <limits>

namespace adit::nn {
namespace {

using kernels::kAttentionChunk;

// (query, head) pairs that share one reading of the keys: 48 scores of a chunk are 48 KiB, which a second-level cache holds.
constexpr int64_t kPairsPerTile = 48;
// Enough for 16 heads of 128 at a context of half a million; a batch that needs more is not split, which costs time only.
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
  ADIT_ASSIGN_OR_RETURN(scratch.worker_scratch_,
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

void Attend(Worker& worker, const kernels::KernelTable& kernels, const AttentionConfig& config,
            const ForwardBatch& batch, const AttentionInput& input, AttentionScratch& scratch) {
  const int heads_per_kv = config.num_heads / config.num_kv_heads;
  const int64_t state_floats = kernels::AttnStateFloats(config.v_dim);
  float* own_states = scratch.worker_scratch_.as<float>() + worker.index() * scratch.worker_floats_;
  float* kernel_scratch = own_states + scratch.state_floats_;

  const auto args_of = [&](const SequenceRows& rows) {
    return kernels::AttendArgs{.q = input.q + rows.row_begin * input.q_stride,
                               .q_stride = input.q_stride,
                               .kv = input.kv,
                               .block_table = rows.block_table.data(),
                               .first_position = rows.first_position,
                               .window = config.window,
                               .heads_per_kv = heads_per_kv,
                               .scale = config.scale};
  };
  const auto chunks_of = [&](const AttentionScratch::Tile& tile) {
    const int64_t first = batch.sequences[tile.sequence].first_position;
    return VisibleChunks(first + tile.query_begin, first + tile.query_end - 1, config.window);
  };
  const auto finish = [&](const AttentionScratch::Tile& tile, int64_t kv_head, const float* states) {
    const int64_t first_row = batch.sequences[tile.sequence].row_begin;
    for (int64_t query = tile.query_begin; query < tile.query_end; ++query) {
      float* out = input.out + (first_row + query) * input.out_stride + kv_head * heads_per_kv * config.v_dim;
      for (int head = 0; head < heads_per_kv; ++head, states += state_floats) {
        kernels.finish_state(states, out + head * config.v_dim, config.v_dim);
      }
    }
  };

  const int64_t num_tiles = static_cast<int64_t>(scratch.tiles_.size());
  const int64_t num_items = num_tiles * config.num_kv_heads;
  int64_t split_chunks = 0;
  int64_t split_floats = 0;
  if (worker.count() > 1 && num_items < 2 * worker.count()) {
    for (const auto& tile : scratch.tiles_) {
      const ChunkRange chunks = chunks_of(tile);
      split_chunks += chunks.end - chunks.begin;
      split_floats += (chunks.end - chunks.begin) * (tile.query_end - tile.query_begin) * heads_per_kv * state_floats;
    }
    split_floats *= config.num_kv_heads;
  }
  const bool split = split_chunks > num_tiles && split_floats <= scratch.split_floats_;

  if (!split) {
    for (int64_t item; (item = worker.Claim()) < num_items;) {
      const AttentionScratch::Tile& tile = scratch.tiles_[static_cast<size_t>(item / config.num_kv_heads)];
      const int64_t kv_head = item % config.num_kv_heads;
      const ChunkRange chunks = chunks_of(tile);
      ClearStates(own_states, (tile.query_end - tile.query_begin) * heads_per_kv, state_floats);
      kernels.attend(args_of(batch.sequences[tile.sequence]), {.kv_head = static_cast<int>(kv_head),
                                                               .query_begin = tile.query_begin,
                                                               .query_end = tile.query_end,
                                                               .chunk_begin = chunks.begin,
                                                               .chunk_end = chunks.end,
                                                               .states = own_states,
                                                               .scratch = kernel_scratch});
      finish(tile, kv_head, own_states);
    }
    return;
  }

  // Few queries and a long past: each chunk of each tile is a piece of its own, with its own states, in the order
  // [tile, kv_head, chunk]; then whoever claims a tile's head merges its chunks in order.
  const auto for_each_item = [&](auto&& body) {
    float* states = scratch.split_states_.as<float>();
    for (const auto& tile : scratch.tiles_) {
      const ChunkRange chunks = chunks_of(tile);
      const int64_t chunk_floats = (tile.query_end - tile.query_begin) * heads_per_kv * state_floats;
      for (int64_t kv_head = 0; kv_head < config.num_kv_heads; ++kv_head) {
        body(tile, kv_head, chunks, states, chunk_floats);
        states += chunk_floats * (chunks.end - chunks.begin);
      }
    }
  };
  int64_t piece = worker.Claim();
  int64_t first_piece = 0;
  for_each_item([&](const AttentionScratch::Tile& tile, int64_t kv_head, ChunkRange chunks, float* states,
                    int64_t chunk_floats) {
    for (; piece < first_piece + chunks.end - chunks.begin; piece = worker.Claim()) {
      const int64_t index = piece - first_piece;
      float* chunk_states = states + index * chunk_floats;
      ClearStates(chunk_states, chunk_floats / state_floats, state_floats);
      kernels.attend(args_of(batch.sequences[tile.sequence]), {.kv_head = static_cast<int>(kv_head),
                                                               .query_begin = tile.query_begin,
                                                               .query_end = tile.query_end,
                                                               .chunk_begin = chunks.begin + index,
                                                               .chunk_end = chunks.begin + index + 1,
                                                               .states = chunk_states,
                                                               .scratch = kernel_scratch});
    }
    first_piece += chunks.end - chunks.begin;
  });
  worker.Barrier();
  piece = worker.Claim();
  first_piece = 0;
  for_each_item([&](const AttentionScratch::Tile& tile, int64_t kv_head, ChunkRange chunks, float* states,
                    int64_t chunk_floats) {
    if (piece == first_piece) {
      for (int64_t index = 1; index < chunks.end - chunks.begin; ++index) {
        for (int64_t i = 0; i < chunk_floats; i += state_floats) {
          kernels.merge_states(states + index * chunk_floats + i, states + i, config.v_dim);
        }
      }
      finish(tile, kv_head, states);
      piece = worker.Claim();
    }
    ++first_piece;
  });
}

}  // namespace adit::nn
