#include "kernels/test_tables.h"

#include <algorithm>
#include <deque>
#include <string_view>

#include "kernels/dispatch.h"
#include "kernels/kernel_sets.h"

#ifdef ADIT_HAS_AVX512_EMULATED
namespace adit::kernels::avx512_emulated {
extern const KernelTable kTable;
}
namespace adit::kernels::avx512bf16_emulated {
extern const KernelTable kTable;
}
#endif

namespace adit::kernels {
namespace {

// `table`, completed from the set called `lower` of `tables`, under a name that says that it is carried out by AVX2.
#ifdef ADIT_HAS_AVX512_EMULATED
void AddEmulated(const KernelTable& table, std::string_view lower, const char* name,
                 std::vector<const KernelTable*>& tables) {
  static std::deque<KernelTable> emulated;  // never shrinks: callers keep pointers
  for (const KernelTable* other : tables) {
    if (other->name != lower) continue;
    emulated.push_back(Completed(table, *other));
    emulated.back().name = name;
    tables.push_back(&emulated.back());
    return;
  }
}
#endif

std::vector<const KernelTable*> AllTables() {
  std::vector<const KernelTable*> tables;
  for (const KernelSet& set : KernelSets()) {
    if (set.available) tables.push_back(set.table);
  }
  std::ranges::reverse(tables);
#ifdef ADIT_HAS_AVX512_EMULATED
  AddEmulated(avx512_emulated::kTable, "avx2", "avx512_emulated", tables);
  AddEmulated(avx512bf16_emulated::kTable, "avx512_emulated", "avx512bf16_emulated", tables);
#endif
  return tables;
}

}  // namespace

std::vector<const KernelTable*> ProductTestTables() {
  static const std::vector<const KernelTable*> tables = AllTables();
  return tables;
}

std::vector<const KernelTable*> TestTables() {
  std::vector<const KernelTable*> tables = ProductTestTables();
  // It has products alone.
  std::erase_if(tables,
                [](const KernelTable* table) { return std::string_view(table->name).starts_with("avx512bf16"); });
  return tables;
}

}  // namespace adit::kernels
