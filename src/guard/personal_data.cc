#include "guard/personal_data.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

namespace adit::guard {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Characters of an account number in each country that has them.
struct IbanCountry {
  char code[3];
  size_t length;
};
constexpr IbanCountry kIbanCountries[] = {
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22}, {"BH", 22},
    {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DJ", 27},
    {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18}, {"FK", 18}, {"FO", 18}, {"FR", 27},
    {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27}, {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28},
    {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28},
    {"LC", 32}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22},
    {"MK", 19}, {"MN", 20}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23},
    {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24},
    {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25}, {"SV", 28},
    {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20}, {"YE", 30}};

bool HasLuhnSum(std::string_view digits) {
  int sum = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    int value = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) value = value * 2 > 9 ? value * 2 - 9 : value * 2;
    sum += value;
  }
  return sum % 10 == 0;
}

// Of an account number without blanks.
bool HasIbanSum(std::string_view account) {
  const std::string turned = std::string(account.substr(4)) + std::string(account.substr(0, 4));
  uint32_t rest = 0;
  for (const char c : turned) {
    const auto value = static_cast<uint32_t>(IsDigit(c) ? c - '0' : c - 'A' + 10);
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
  }
  return rest == 1;
}

constexpr PersonalData kKinds[] = {
    {"email",
     R"((?<![\p{L}\p{N}._%+\-])[\p{L}\p{N}._%+\-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}\-]{0,61}[\p{L}\p{N}])?\.){1,8})"
     R"((?:\p{L}{2,24}|xn--[A-Za-z0-9\-]{1,59})(?![\p{L}\p{N}\-]))"},
    // With a country's code; as in North America; with a leading 0 and blanks.
    {"phone",
     R"((?<![\p{L}\p{N}+])(?:(?:\+|00)[1-9](?:[ .()/\-]{0,2}[0-9]){6,14}|(?:1[ .\-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .\-]))"
     R"([2-9][0-9]{2}[ .\-][0-9]{4}|\(?0[1-9][0-9]{1,4}\)?[ /\-](?:[ \-]?[0-9]){5,10})(?![\p{L}\p{N}]))"},
    {"card", R"((?<![0-9])[2-6](?:[ \-]?[0-9]){12,18}(?![0-9]))", &CardLength},
    {"iban", R"((?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30})", &IbanLength},
    {"ip",
     R"((?<![\p{L}\p{N}.])(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]))"
     R"((?![\p{L}\p{N}]|\.[0-9]))"},
    {"ipv6", R"((?<![\p{L}\p{N}:.])[0-9A-Fa-f:][0-9A-Fa-f:.]{3,44}(?![\p{L}\p{N}]))", &Ipv6Length},
    // Of the United States.
    {"ssn", R"((?<![0-9\-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9\-]))"},
    // Keys of well-known services, tokens that say what they are, private keys.
    {"secret",
     R"((?<![A-Za-z0-9])(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|sk-[A-Za-z0-9_\-]{20,200}|xox[abprs]-[A-Za-z0-9\-]{10,200}|)"
     R"(eyJ[A-Za-z0-9_\-]{10,400}\.[A-Za-z0-9_\-]{10,400}\.[A-Za-z0-9_\-]{10,200})(?![A-Za-z0-9_\-])|)"
     R"(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)"},
};

}  // namespace

std::span<const PersonalData> PersonalDataKinds() { return kKinds; }

size_t CardLength(std::string_view found) {
  std::string digits;
  size_t best = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (IsDigit(found[i])) digits += found[i];
    // A number does not end inside a group of digits.
    const bool ends = IsDigit(found[i]) && (i + 1 == found.size() || !IsDigit(found[i + 1]));
    if (ends && digits.size() >= 13 && digits.size() <= 19 && HasLuhnSum(digits)) best = i + 1;
  }
  return best;
}

size_t IbanLength(std::string_view found) {
  const std::string country = {Upper(found[0]), Upper(found[1])};
  const auto known = std::find_if(std::begin(kIbanCountries), std::end(kIbanCountries),
                                  [&country](const IbanCountry& row) { return country == row.code; });
  if (known == std::end(kIbanCountries)) return 0;
  std::string account;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] != ' ') account += Upper(found[i]);
    if (account.size() == known->length) return HasIbanSum(account) ? i + 1 : 0;
  }
  return 0;
}

size_t Ipv6Length(std::string_view found) {
  for (std::string text(found); text.size() >= 6; text.pop_back()) {
    in6_addr address;
    const bool has_digit = std::any_of(text.begin(), text.end(), &IsDigit);
    if (has_digit && std::count(text.begin(), text.end(), ':') >= 2 &&
        ::inet_pton(AF_INET6, text.c_str(), &address) == 1) {
      return text.size();
    }
    // Only what ends a sentence may be left off.
    if (text.back() != '.' && text.back() != ':') return 0;
  }
  return 0;
}

}  // namespace adit::guard
