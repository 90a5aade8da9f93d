#include "sample/chain.h"

#include <algorithm>
#include <array>

#include "sample/dry.h"
#include "sample/min_p.h"
#include "sample/penalties.h"
#include "sample/temperature.h"
#include "sample/top_k.h"
#include "sample/top_n_sigma.h"
#include "sample/top_p.h"
#include "sample/typical_p.h"
#include "sample/xtc.h"

namespace adit::sample {
namespace {

constexpr auto kSteps = std::to_array<ChainStep>({
    {.name = "penalties", .make = MakePenalties, .with_mirostat = true},
    {.name = "dry", .make = MakeDry, .with_mirostat = true},
    {.name = "top_n_sigma", .make = MakeTopNSigma},
    {.name = "top_k", .make = MakeTopK, .leaves_one = [](const SamplingParams& p) { return p.top_k == 1; }},
    {.name = "typ_p", .make = MakeTypicalP},
    {.name = "top_p", .make = MakeTopP, .leaves_one = [](const SamplingParams& p) { return p.top_p == 0; }},
    {.name = "min_p", .make = MakeMinP},
    {.name = "xtc", .make = MakeXtc},
    {.name = "temperature",
     .make = MakeTemperature,
     .leaves_one = [](const SamplingParams& p) { return p.temperature < kGreedyTemperature; },
     .with_mirostat = true},
});

}  // namespace

std::span<const ChainStep> ChainSteps() { return kSteps; }

const ChainStep* FindChainStep(std::string_view name) {
  const auto found = std::find_if(kSteps.begin(), kSteps.end(), [&](const ChainStep& s) { return s.name == name; });
  return found != kSteps.end() ? &*found : nullptr;
}

std::vector<const ChainStep*> ChainOf(const SamplingParams& params) {
  std::vector<const ChainStep*> chain;
  if (params.samplers) {
    for (const std::string& name : *params.samplers) chain.push_back(FindChainStep(name));
  } else {
    for (const ChainStep& step : kSteps) chain.push_back(&step);
  }
  if (params.mirostat != 0) std::erase_if(chain, [](const ChainStep* step) { return !step->with_mirostat; });
  return chain;
}

}  // namespace adit::sample
