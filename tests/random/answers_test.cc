// What phase 1 of operators that draw random numbers answers to every call, in which order, on every product; the rules of phase 2.
// SPDX-License-Identifier: Apache-2.0
#include "operators/random.h"
#include "support/answer_suite.h"

namespace portacl::testing {
namespace {

PORTACL_ANSWER_TESTS(RandomAnswers, RandomOperators());

}  // namespace
}  // namespace portacl::testing
