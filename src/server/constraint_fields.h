#ifndef ADIT_SERVER_CONSTRAINT_FIELDS_H_
#define ADIT_SERVER_CONSTRAINT_FIELDS_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "adit/grammar.h"
#include "adit/status.h"
#include "server/api_error.h"
#include "server/json_fields.h"

namespace adit::server {

// What answers are held to, and the field that asks for it.
struct Constraint {
  GrammarSpec spec;
  std::string param;
};

// A request's body once more, with members in the order in which the client wrote them: schemas and tools are told to
// the model in it.
class OrderedBody {
 public:
  // `body` and `text` outlive the object. Without a text the order is that of `body`.
  OrderedBody(const nlohmann::json& body, std::string_view text) : body_(body), text_(text) {}

  // The value of a member of the body, the null value where there is none.
  nlohmann::ordered_json Member(const char* key) const;

 private:
  const nlohmann::json& body_;
  const std::string_view text_;
};

// Reads response_format, structured_outputs and what others call them: at most one of them asks for something. Texts
// are taken as they are; the compiler checks them.
std::optional<Constraint> ReadConstraint(FieldReader& fields, const OrderedBody& body);

// What a client is told of a constraint that could not be compiled.
ApiError ErrorOfConstraint(const Constraint& constraint, const Status& status);

}  // namespace adit::server

#endif  // ADIT_SERVER_CONSTRAINT_FIELDS_H_
