#include "guard/personal_data.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "guard/guard_stream.h"
#include "guard/rules_file.h"

namespace adit::guard {
namespace {

// The text with what a kind finds in it put into brackets' place.
std::string Hidden(const std::string& kind, const std::string& text) {
  auto rules =
      ParseRules("[[rule]]\nname='x'\naction='redact'\nreplacement='#'\npii='" + kind + "'\n", "rules.toml", "");
  EXPECT_TRUE(rules.ok()) << rules.status().ToString();
  return rules.ok() ? GuardText(**rules, Side::kInput, text).text : "";
}

TEST(PersonalData, FindsAddressesOfMail) {
  EXPECT_EQ(Hidden("email", "write to ann.b+x@mail.example.org."), "write to #.");
  EXPECT_EQ(Hidden("email", "<jürgen@müller.de>, a@b.co"), "<#>, #");
  EXPECT_EQ(Hidden("email", "user@localhost, @name, a@b, x @ y.org"), "user@localhost, @name, a@b, x @ y.org");
}

TEST(PersonalData, FindsCardsByTheirChecksum) {
  EXPECT_EQ(Hidden("card", "4111 1111 1111 1111"), "#");
  EXPECT_EQ(Hidden("card", "4111-1111-1111-1111, 378282246310005"), "#, #");
  EXPECT_EQ(Hidden("card", "order 12 4111111111111111 12"), "order 12 # 12");
  EXPECT_EQ(Hidden("card", "4111 1111 1111 1112"), "4111 1111 1111 1112");
  EXPECT_EQ(Hidden("card", "41111111111111111111111111"), "41111111111111111111111111");
  EXPECT_EQ(Hidden("card", "1700000000000"), "1700000000000") << "a time in milliseconds";
}

TEST(PersonalData, FindsAccountsByTheirCheckDigits) {
  EXPECT_EQ(Hidden("iban", "to DE89 3704 0044 0532 0130 00 please"), "to # please");
  EXPECT_EQ(Hidden("iban", "GB82WEST12345698765432"), "#");
  EXPECT_EQ(Hidden("iban", "gb82 west 1234 5698 7654 32"), "#");
  EXPECT_EQ(Hidden("iban", "NO93 8601 1117 947"), "#");
  EXPECT_EQ(Hidden("iban", "DE88 3704 0044 0532 0130 00"), "DE88 3704 0044 0532 0130 00");
  EXPECT_EQ(Hidden("iban", "XX82WEST12345698765432"), "XX82WEST12345698765432");
}

TEST(PersonalData, FindsNumbersOfPhones) {
  for (const char* number : {"+49 30 123456", "+1 (415) 555-2671", "0049 30 1234567", "(415) 555-2671", "415-555-2671",
                             "030 1234567", "+441632960961"}) {
    EXPECT_EQ(Hidden("phone", "call " + std::string(number) + ", now"), "call #, now") << number;
  }
  for (const char* other : {"12345", "2024-05-01", "3.14159265", "10 000 000", "192.168.0.1"}) {
    EXPECT_EQ(Hidden("phone", other), other);
  }
}

TEST(PersonalData, FindsAddressesOfMachines) {
  EXPECT_EQ(Hidden("ip", "from 192.168.10.254:80 to 8.8.8.8."), "from #:80 to #.");
  EXPECT_EQ(Hidden("ip", "999.1.1.1 1.2.3 1.2.3.4.5 v1.2.3.4"), "999.1.1.1 1.2.3 1.2.3.4.5 v1.2.3.4");
  EXPECT_EQ(Hidden("ipv6", "at 2001:db8::8a2e:370:7334."), "at #.");
  EXPECT_EQ(Hidden("ipv6", "fe80::1, 2001:0db8:0000:0000:0000:ff00:0042:8329"), "#, #");
  EXPECT_EQ(Hidden("ipv6", "12:30:45 std::abs a::b"), "12:30:45 std::abs a::b");
}

TEST(PersonalData, FindsNumbersAndSecrets) {
  EXPECT_EQ(Hidden("ssn", "123-45-6789 000-45-6789 123-45-67890"), "# 000-45-6789 123-45-67890");
  EXPECT_EQ(Hidden("secret", "key=AKIAIOSFODNN7EXAMPLE;"), "key=#;");
  EXPECT_EQ(Hidden("secret", "ghp_" + std::string(36, 'a') + " ok"), "# ok");
  EXPECT_EQ(Hidden("secret", "-----BEGIN RSA PRIVATE KEY-----"), "#");
  EXPECT_EQ(Hidden("secret", "the task-list sk-short"), "the task-list sk-short");
}

}  // namespace
}  // namespace adit::guard
