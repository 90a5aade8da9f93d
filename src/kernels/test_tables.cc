#include "kernels/test_tables.h"

#include <algorithm>
#include <string_view>

#include "kernels/dispatch.h"
#include "kernels/kernel_sets.h"

#ifdef ADIT_HAS_AVX512_EMULATED
namespace adit::kernels::avx512_emulated {
extern const KernelTable kTable;
}
#endif

namespace adit::kernels {
namespace {

#ifdef ADIT_HAS_AVX512_EMULATED
void AddEmulated(std::vector<const KernelTable*>& tables) {
  for (const KernelTable* lower : tables) {
    if (std::string_view(lower->name) != "avx2") continue;
    static const KernelTable emulated = [&] {
      KernelTable table = Completed(avx512_emulated::kTable, *lower);
      table.name = "avx512_emulated";
      return table;
    }();
    tables.push_back(&emulated);
    return;
  }
}
#else
void AddEmulated(std::vector<const KernelTable*>&) {}
#endif

}  // namespace

std::vector<const KernelTable*> TestTables() {
  std::vector<const KernelTable*> tables;
  for (const KernelSet& set : KernelSets()) {
    if (set.available) tables.push_back(set.table);
  }
  std::ranges::reverse(tables);
  AddEmulated(tables);
  return tables;
}

}  // namespace adit::kernels
