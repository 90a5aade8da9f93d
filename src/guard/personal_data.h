#ifndef ADIT_GUARD_PERSONAL_DATA_H_
#define ADIT_GUARD_PERSONAL_DATA_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "guard/rules.h"

namespace adit::guard {

// A kind of personal data that rules may name: what it looks like, and what more it must be.
struct PersonalData {
  std::string_view name;  // "email"
  std::string_view expression;
  Check check = nullptr;
};
std::span<const PersonalData> PersonalDataKinds();

// The longest start of `found`, up to the end of a group, that is the number of a payment card: 13 to 19 digits whose
// checksum is right (Luhn; ISO/IEC 7812-1).
size_t CardLength(std::string_view found);
// The start of `found` that is an international bank account number: as long as its country has them, with the right
// check digits (ISO 13616, modulus 97).
size_t IbanLength(std::string_view found);
// The longest start that is an IPv6 address.
size_t Ipv6Length(std::string_view found);

}  // namespace adit::guard

#endif  // ADIT_GUARD_PERSONAL_DATA_H_
