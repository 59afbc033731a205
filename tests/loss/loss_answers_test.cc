// What phase 1 of the losses answers to every call, in which order, on every product; the rules of phase 2.
// SPDX-License-Identifier: Apache-2.0
#include "operators/losses.h"
#include "support/index_answers.h"

namespace portacl::testing {
namespace {

PORTACL_ANSWER_TESTS(LossAnswers, LossOperators());

}  // namespace
}  // namespace portacl::testing
