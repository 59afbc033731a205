#!/bin/sh
# Answers triton-ascend, which asks CANN's device compiler for its targets before it takes itself for active. No device code is compiled
# on portacl: Triton's kernels run by Triton's interpreter.
# SPDX-License-Identifier: Apache-2.0
if [ "$*" = -print-targets ]; then
  echo hiipu64
else
  echo "${0##*/}: portacl compiles no device code; Triton's kernels run with TRITON_INTERPRET=1" >&2
  exit 1
fi
