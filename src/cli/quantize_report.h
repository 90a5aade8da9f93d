#ifndef ADIT_CLI_QUANTIZE_REPORT_H_
#define ADIT_CLI_QUANTIZE_REPORT_H_

#include "adit/status.h"
#include "cli/options.h"

namespace adit::cli {

// adit quantize --report: makes and measures each candidate, writes the report, and the chosen file where one is asked
// for. Requires a living InterruptScope.
Result<int> RunQuantizeReport(const QuantizeOptions& options);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUANTIZE_REPORT_H_
