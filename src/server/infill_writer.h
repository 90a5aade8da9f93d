#ifndef ADIT_SERVER_INFILL_WRITER_H_
#define ADIT_SERVER_INFILL_WRITER_H_

#include <memory>

#include "server/answer_writer.h"

namespace adit::server {

// The object that llama.cpp's /infill answers with, and its streams.
std::unique_ptr<AnswerWriter> MakeInfillWriter(ApiAnswer& answer, const AnswerHead& head);

}  // namespace adit::server

#endif  // ADIT_SERVER_INFILL_WRITER_H_
