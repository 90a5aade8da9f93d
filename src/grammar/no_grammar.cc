// The backend of a build without XGrammar.
#include "grammar/backend_internal.h"

namespace adit::grammar {

bool BackendIsBuilt() { return false; }
std::unique_ptr<Backend> MakeBackend(const tokenizer::Tokenizer&) { return nullptr; }

}  // namespace adit::grammar
