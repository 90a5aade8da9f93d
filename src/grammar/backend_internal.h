#ifndef ADIT_GRAMMAR_BACKEND_INTERNAL_H_
#define ADIT_GRAMMAR_BACKEND_INTERNAL_H_

#include <atomic>
#include <memory>
#include <string>

#include "adit/grammar.h"
#include "adit/status.h"
#include "tokenizer/tokenizer.h"

namespace adit::grammar {

// What turns texts that have been checked into grammars. One thread at a time.
class Backend {
 public:
  virtual ~Backend() = default;

  // Reads of the tokenizer what Compile needs.
  virtual void Prepare(const GrammarSpec& spec) = 0;
  // `spec.text` as CheckSpec returned it. InvalidArgument, with the place, for what is none after all. May take for
  // ever, and does not touch the tokenizer.
  virtual Result<GrammarPtr> Compile(const GrammarSpec& spec) = 0;
};

bool BackendIsBuilt();
// Null when this build has none. `tokenizer` outlives the backend.
std::unique_ptr<Backend> MakeBackend(const tokenizer::Tokenizer& tokenizer);

// Where compilers get their backends; tests put another in the place of MakeBackend.
using BackendFactory = std::unique_ptr<Backend> (*)(const tokenizer::Tokenizer&);
inline std::atomic<BackendFactory> backend_factory = &MakeBackend;

// The text of a spec, checked against our own limits and, for a schema, rewritten so that nothing in it is passed over.
// InvalidArgument and Unsupported, with the place and the name.
Result<std::string> CheckSpec(const GrammarSpec& spec);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_BACKEND_INTERNAL_H_
