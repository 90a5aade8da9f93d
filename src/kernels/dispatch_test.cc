#include "kernels/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/cpu_features.h"
#include "kernels/kernel_sets.h"

namespace adit::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

CpuidRegisters EverythingOn() {
  return {.leaf1_ecx = ~0u, .leaf7_ebx = ~0u, .leaf7_ecx = ~0u, .leaf7_1_eax = ~0u, .xcr0 = ~uint64_t{0}};
}

constexpr CpuFeature kSome[] = {CpuFeature::kFma, CpuFeature::kAvx2, CpuFeature::kAvx512F, CpuFeature::kAvx512Vnni};
constexpr CpuFeature kBf16[] = {CpuFeature::kAvx512Bf16};

TEST(CpuFeatures, HasWhatProcessorAndSystemHave) {
  const CpuFeatures features = CpuFeatures::FromRegisters(EverythingOn());
  EXPECT_EQ(features.Missing(kSome), "");
  EXPECT_EQ(CpuFeatures::FromRegisters({}).Missing(kSome), "fma avx2 avx512f avx512vnni");
}

TEST(CpuFeatures, NamesWhatTheProcessorLacks) {
  CpuidRegisters registers = EverythingOn();
  registers.leaf7_ecx &= ~(1u << 11);
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kSome), "avx512vnni");
  registers.leaf1_ecx &= ~(1u << 12);
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kSome), "fma avx512vnni");
}

TEST(CpuFeatures, KnowsSubleaves) {
  CpuidRegisters registers = EverythingOn();
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kBf16), "");
  registers.leaf7_1_eax = ~(1u << 5);
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kBf16), "avx512bf16");
}

TEST(CpuFeatures, NeedsTheSystemToSaveTheRegisters) {
  CpuidRegisters registers = EverythingOn();
  registers.xcr0 = 0x7;  // x87, xmm, ymm
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kSome), "avx512f avx512vnni");
  registers.xcr0 = 0x3;  // no ymm
  EXPECT_EQ(CpuFeatures::FromRegisters(registers).Missing(kSome), "fma avx2 avx512f avx512vnni");
}

TEST(KernelSets, EndWithRefWhichRunsEverywhere) {
  const std::span<const KernelSet> sets = KernelSets();
  ASSERT_FALSE(sets.empty());
  EXPECT_STREQ(sets.back().table->name, "ref");
  std::set<std::string> names;
  for (const KernelSet& set : sets) {
    EXPECT_EQ(set.available, set.missing.empty()) << set.table->name;
    EXPECT_TRUE(names.insert(set.table->name).second) << set.table->name;
  }
  EXPECT_TRUE(sets.back().available);
}

TEST(KernelSets, AreComplete) {
  for (const KernelSet& set : KernelSets()) {
    const KernelTable& table = *set.table;
    for (const WeightKernels& weights : table.weights) {
      EXPECT_NE(weights.matmul, nullptr) << table.name;
      EXPECT_NE(weights.panel_bytes, nullptr) << table.name;
    }
    EXPECT_TRUE(table.quantize_q8 && table.rms_norm && table.layer_norm && table.rope) << table.name;
    EXPECT_TRUE(table.glu && table.activate && table.softcap) << table.name;
    EXPECT_TRUE(table.store_kv && table.attend && table.merge_states && table.finish_state) << table.name;
  }
}

TEST(Completed, TakesWhatIsNullFromTheLowerSet) {
  KernelTable table = {.name = "some",
                       .native_kv = KvType::kBF16,
                       .weights = {},
                       .quantize_q8 = nullptr,
                       .rms_norm = nullptr,
                       .rope = nullptr,
                       .glu = nullptr,
                       .store_kv = nullptr,
                       .attend = nullptr,
                       .merge_states = nullptr,
                       .finish_state = nullptr};
  table.rms_norm = [](const RmsNormArgs&) noexcept {};
  table.weights[3].matmul = [](const MatmulArgs&, int64_t, int64_t) noexcept {};
  table.weights[3].panel_rows = 8;
  const KernelTable complete = Completed(table, RefTable());
  EXPECT_STREQ(complete.name, "some");
  EXPECT_EQ(complete.native_kv, KvType::kBF16);
  EXPECT_EQ(complete.rms_norm, table.rms_norm);
  EXPECT_EQ(complete.attend, RefTable().attend);
  EXPECT_EQ(complete.weights[3].matmul, table.weights[3].matmul);
  EXPECT_EQ(complete.weights[3].panel_rows, 8);
  EXPECT_EQ(complete.weights[4].matmul, RefTable().weights[4].matmul);
}

TEST(SelectKernels, AutoIsTheFastestThatRuns) {
  const Result<const KernelTable*> table = SelectKernels("auto");
  ASSERT_TRUE(table.ok());
  for (const KernelSet& set : KernelSets()) {
    EXPECT_TRUE(set.available || !set.automatic) << set.table->name;
    if (!set.automatic) continue;
    EXPECT_EQ(*table, set.table);
    break;
  }
}

TEST(SelectKernels, GivesTheNamedSetOrSaysWhatItNeeds) {
  for (const KernelSet& set : KernelSets()) {
    const Result<const KernelTable*> table = SelectKernels(set.table->name);
    ASSERT_EQ(table.ok(), set.available) << set.table->name;
    if (set.available) {
      EXPECT_EQ(*table, set.table);
    } else {
      EXPECT_EQ(table.status().code(), StatusCode::kUnsupported);
      EXPECT_THAT(table.status().message(),
                  AllOf(HasSubstr(set.table->name), HasSubstr(set.missing), HasSubstr("ref")));
    }
  }
}

TEST(SelectKernels, RefusesAnUnknownName) {
  for (const char* name : {"", "avx3", "AVX2", "sse", "avx512_emulated"}) {
    const Result<const KernelTable*> table = SelectKernels(name);
    ASSERT_FALSE(table.ok()) << name;
    EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(table.status().message(), AllOf(HasSubstr(name), HasSubstr("auto"), HasSubstr("ref")));
  }
}

}  // namespace
}  // namespace adit::kernels
