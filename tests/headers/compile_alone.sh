#!/bin/sh
# Compiles every public header by itself, as C11 and as C++11, and all of them together in both orders.
# SPDX-License-Identifier: Apache-2.0
#
# usage: compile_alone.sh INCLUDE_DIR COMPILER...
#
# COMPILER is a C or C++ driver that takes GCC's options; one driver serves both languages. Nothing is written. Every
# header that fails is named, with its language and compiler; the exit status is 0 only if none did.
set -u

if [ $# -lt 2 ] || [ ! -d "$1" ]; then
  echo "usage: compile_alone.sh INCLUDE_DIR COMPILER..." >&2
  exit 2
fi
include_dir=$1
shift

headers=$(cd "$include_dir" && find . -name '*.h' | sed 's|^\./||' | LC_ALL=C sort)
if [ -z "$headers" ]; then
  echo "compile_alone.sh: no header under $include_dir" >&2
  exit 2
fi
reversed=$(echo "$headers" | LC_ALL=C sort -r)

warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror"
failures=0
compilations=0

# compile COMPILER LANGUAGE WHAT OPTIONS: compiles the translation unit on standard input, which it knows as WHAT.
compile() {
  case $2 in
    C11) dialect="-x c -std=c11 -Wstrict-prototypes" ;;
    C++11) dialect="-x c++ -std=c++11" ;;
  esac
  compilations=$((compilations + 1))
  # The options are lists of words without blanks in them.
  # shellcheck disable=SC2086
  if ! $1 $dialect $warnings $4 -I"$include_dir" -fsyntax-only -; then
    failures=$((failures + 1))
    echo "FAILED: $3 as $2 with $1" >&2
  fi
}

# include HEADER...: a translation unit that includes the headers, and is not empty if they are.
include() {
  for header in "$@"; do
    echo "#include \"$header\""
  done
  echo "typedef int NotEmpty;"
}

for compiler in "$@"; do
  for language in C11 C++11; do
    for header in $headers; do
      # The first inclusion stands alone, the second must add nothing.
      compile "$compiler" "$language" "$header" "" <<EOF
$(include "$header" "$header")
EOF
    done
    # shellcheck disable=SC2086
    compile "$compiler" "$language" "all headers in order" "" <<EOF
$(include $headers)
EOF
    # shellcheck disable=SC2086
    compile "$compiler" "$language" "all headers in reverse order" "" <<EOF
$(include $reversed)
EOF
    # As CANN's own build lines do: its header folders as further include folders, exported symbols, a macro OK.
    # shellcheck disable=SC2086
    compile "$compiler" "$language" "all headers with the options of CANN's examples" \
      "-I$include_dir/aclnn -I$include_dir/aclnnop -DFUNC_VISIBILITY -DOK=0" <<EOF
$(include $headers)
EOF
  done
done

echo "$(echo "$headers" | wc -l) headers, $compilations compilations, $failures failures"
[ "$failures" -eq 0 ]
