// Small programs, each wrong in one way, and their right twins: what a checked program is told, and what it is not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corpus {

struct Case {
  const char* name;
  const char* kind;      // of the finding that the wrong program gives
  const char* expected;  // a regular expression that the report of the wrong program holds
  void (*wrong)();
  void (*right)();
  Case* next;

  Case(const char* its_name, const char* its_kind, const char* its_report, void (*wrong_program)(),
       void (*right_program)());
};

}  // namespace corpus

namespace portacl {
namespace corpus = ::corpus;
}

// CASE(read_by_host, "host-access", "regular expression", { wrong }, { right }): neither body may hold a comma outside of
// parentheses, so longer ones are functions.
#define CASE(name, kind, expected, wrong, right)                                     \
  namespace {                                                                        \
  void Wrong_##name() wrong;                                                         \
  void Right_##name() right;                                                         \
  const corpus::Case case_##name(#name, kind, expected, Wrong_##name, Right_##name); \
  }
