#ifndef ADIT_GUARD_RULES_FILE_H_
#define ADIT_GUARD_RULES_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "guard/rules.h"

namespace adit::guard {

// Reads rules from a TOML file, docs/server.md. Errors name the file, the line and the rule.
Result<std::shared_ptr<const Rules>> LoadRules(const std::string& path);
// The same from a text. `name`: of the file, for errors; `folder`: where files of words that it names are.
Result<std::shared_ptr<const Rules>> ParseRules(std::string_view text, const std::string& name,
                                                const std::string& folder);

}  // namespace adit::guard

#endif  // ADIT_GUARD_RULES_FILE_H_
