#ifndef ADIT_PLAN_MULTIPLIER_H_
#define ADIT_PLAN_MULTIPLIER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/worker_team.h"

namespace adit::plan {

// An instruction, or a pair of them, that multiplies and adds numbers of one type: what bounds products of many tokens.
struct Multiplier {
  std::string_view type;          // of the numbers: "int8", "bf16", "f32"
  std::string_view set;           // the kernel set that has it: "avx2"
  std::string_view instructions;  // "vpmaddubsw, vpaddw"
  int64_t ops_per_round = 0;      // products and additions
  // Runs so many rounds, with registers as operands and more independent sums than the instruction takes cycles.
  void (*run)(int64_t rounds) = nullptr;
};

// Those that this machine has; empty where none is known for it.
std::span<const Multiplier> Multipliers();

// Products and additions a second of the whole team together: the best of several trials of a few hundredths of a
// second, since what else runs on the machine only takes away.
double MeasureOps(WorkerTeam& team, const Multiplier& multiplier);

}  // namespace adit::plan

#endif  // ADIT_PLAN_MULTIPLIER_H_
