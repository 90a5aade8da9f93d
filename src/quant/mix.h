#ifndef ADIT_QUANT_MIX_H_
#define ADIT_QUANT_MIX_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "tensor/dtype.h"
#include "tokenizer/regex.h"

namespace adit::quant {

// Types for tensors by their names.
class Mix {
 public:
  // Adds the rule of a line: a regular expression that is looked for in names, then a type, with spaces or '='
  // between: "blk\.(0|1)\..*ffn_down q6_k". InvalidArgument with what is wrong.
  Status Add(std::string_view rule);
  // Adds the rules of a file's lines; empty lines and what follows a '#' are passed over. Messages name the line.
  Status AddFile(const std::string& path, std::string_view text);

  bool empty() const { return rules_.empty(); }
  // The type of the first rule that fits, or null; notes that the rule has been of use.
  const DType* Find(std::string_view name);
  // The expressions of the rules that have not been.
  std::vector<std::string> Unused() const;

 private:
  struct Rule {
    std::string pattern;
    tokenizer::Regex regex;
    DType dtype;
    bool used = false;
  };
  std::vector<std::unique_ptr<Rule>> rules_;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_MIX_H_
