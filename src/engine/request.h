#ifndef ADIT_ENGINE_REQUEST_H_
#define ADIT_ENGINE_REQUEST_H_

#include "adit/request.h"

// The request and its events are part of the public interface.
namespace adit::engine {

using adit::AnswerStats;
using adit::BeamSearchParams;
using adit::EarlyStopping;
using adit::Event;
using adit::FinishReason;
using adit::FinishReasonName;
using adit::GenerationRequest;

}  // namespace adit::engine

#endif  // ADIT_ENGINE_REQUEST_H_
