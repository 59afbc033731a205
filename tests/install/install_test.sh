#!/usr/bin/env bash
# Installs a build and uses it as a CANN user would: compiling, linking, loading, moving and removing it.
# usage: install_test.sh BUILD_DIR (the environment's CC and CXX are the compilers)
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname -- "$(dirname -- "$here")")
build=$(cd -- "${1:?usage: install_test.sh BUILD_DIR}" && pwd -P)
export CC=${CC:-gcc} CXX=${CXX:-g++}
unset LD_LIBRARY_PATH LD_PRELOAD
export PYTHONDONTWRITEBYTECODE=1

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
prefix="$work/a prefix" # a blank in a path must not matter
names=(libascend_dump.so libascend_hal.so libascendalog.so libascendcl.so libascend_protobuf.so libatb.so libc_sec.so libplatform.so libacl_op_compiler.so libacl_rt.so libacl_tdt_channel.so libfmk_parser.so libge_common_base.so libge_runner.so
  liberror_manager.so libmmpa.so libprofapi.so libregister.so libunified_dlog.so
  libgraph.so libhccl.so libhcomm.so libms_tools_ext.so libmsprofiler.so libmspti.so libnnopbase.so libopapi.so libopapi_cv.so libopapi_math.so libopapi_nn.so
  libopapi_transformer.so libruntime.so)
cmake=$(sed -n 's/^CMAKE_COMMAND:INTERNAL=//p' "$build/CMakeCache.txt")
strict=(-Wall -Wextra -Wpedantic -Werror)
examples=("$root"/examples/*.cpp)

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
check() { # WHAT COMMAND...
  local what=$1
  shift
  "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "$what"; }
  printf 'ok: %s\n' "$what"
}
same() { diff -u -- "$1" "$2"; }

name_of() { basename -- "$1" .cpp; }

# Compiles and runs the project's own examples against the prefix with the line of a CANN user.
run_examples() { # PREFIX
  local example
  for example in "${examples[@]}"; do
    $CXX -std=c++11 "${strict[@]}" "$example" -I "$1/include" -L "$1/lib64" \
      -lopapi_nn -lopapi_math -lascendcl -lnnopbase -o "$work/$(name_of "$example")" &&
      LD_LIBRARY_PATH="$1/lib64" "$work/$(name_of "$example")" || return
  done
}

# The same in the environment that set_env.sh makes.
run_examples_by_cmake() { # PREFIX
  rm -rf -- "$work/by_cmake"
  (
    source "$1/set_env.sh" && [[ $ASCEND_HOME_PATH == "$1" ]] &&
      "$cmake" -S "$root/examples" -B "$work/by_cmake" -G Ninja && "$cmake" --build "$work/by_cmake" || exit
    for example in "${examples[@]}"; do
      "$work/by_cmake/$(name_of "$example")" || exit
    done
  )
}

run_examples_by_pkg_config() { # PREFIX
  (
    source "$1/set_env.sh"
    flags=$(pkg-config --cflags --libs portacl) || exit
    for example in "${examples[@]}"; do
      eval "$CXX -std=c++11 \"\$example\" $flags -o \"\$work/by_pkg_config\"" && "$work/by_pkg_config" || exit
    done
  )
}

needs_only_cann_names() { # EXECUTABLE
  local others
  others=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vxE 'lib(opapi_nn|opapi_math|ascendcl|nnopbase)\.so|lib(c|m|stdc\+\+|gcc_s|dl)\.so\.[0-9]+' || true)
  [[ -z $others ]] || { echo "$others" && return 1; }
}

exports() { # LIBRARY
  nm -D --defined-only --format=posix "$1" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | LC_ALL=C sort -u
}

check 'install' "$root/dev" install --from "$build" "$prefix"
for file in include/acl/acl.h include/aclnn/acl_meta.h include/aclnnop/aclnn_l1_loss_backward.h set_env.sh \
  bin/portacl-info bin/npu-smi compiler/triton/{ccec,npuc} tools/profiler/bin/msprof tools/profiler/profiler_tool/analysis/msprof/msprof.py lib64/portacl/libportacl_gloo.so lib64/portacl/libportacl_sleef.so lib64/portacl/libportacl_summary.so \
  share/doc/portacl/LICENSE share/doc/portacl/licenses/{gloo,sleef}.txt lib64/libportacl.so "${names[@]/#/lib64/}" opp runtime compiler; do
  [[ -e $prefix/$file ]] || fail "not installed: $file"
done

# Every operator stands in the master header of its repository, and in no other.
operators_of() { # REPOSITORY
  python3 -B "$root/tools/schema" list | sed -n "s/^OPERATOR(\([a-z0-9_]*\), .*, $1)$/#include \"aclnnop\/aclnn_\1.h\"/p"
}
for repository in nn math; do
  operators_of "$repository" >"$work/expected"
  for header in "$prefix"/include/aclnnop/{,level2/}aclnn_ops_"$repository".h; do
    grep '^#include' "$header" >"$work/included"
    check "$(basename "$header") lists the operators of ops-$repository" same "$work/expected" "$work/included"
  done
done

check 'the examples, with a plain compiler line' run_examples "$prefix"
for example in "${examples[@]}"; do
  check "only CANN's names are needed at run time by $(name_of "$example")" needs_only_cann_names "$work/$(name_of "$example")"
done
check 'portacl-info' "$prefix/bin/portacl-info"
check 'the examples, by set_env.sh and find_package' run_examples_by_cmake "$prefix"
check 'the examples, by set_env.sh and pkg-config' run_examples_by_pkg_config "$prefix"

# One list of the declared functions, made from the installed headers; gcc's own list must agree with it.
python3 "$root/tools/public_functions.py" "$prefix/include" >"$work/declared"
(cd -- "$prefix/include" && find . -name '*.h' -printf '#include "%P"\n' | sort) >"$work/every_header.inc"
sed 's/.*/DECLARED(&)/' "$work/declared" >"$work/every_function.inc"
if [[ $($CC --version) == *'Free Software Foundation'* ]]; then
  printf '#include "every_header.inc"\n' >"$work/headers.c"
  $CC -std=c11 -I "$work" -I "$prefix/include" -fsyntax-only -aux-info "$work/prototypes" "$work/headers.c"
  grep -F "$prefix/include/" "$work/prototypes" | grep -v ' static ' |
    sed -n 's/.*[ *]\([A-Za-z_0-9]*\) (.*/\1/p' | LC_ALL=C sort -u >"$work/prototyped"
  check 'the compiler sees the same declarations' same "$work/declared" "$work/prototyped"
fi

exports "$prefix/lib64/libportacl.so" >"$work/exported"
check 'libportacl.so exports exactly the declared functions' same "$work/declared" "$work/exported"
for name in "${names[@]}"; do
  [[ $name == lib@(atb|fmk_parser|platform).so ]] || exports "$prefix/lib64/$name" # whose interface is C++
done | LC_ALL=C sort -u >"$work/exported"
grep -v '^Msprof' "$work/declared" >"$work/named" # clients find these without a name of CANN
check 'each other function is exported under a name of CANN' same "$work/named" "$work/exported"
check 'programs record the names that an NPU host has' python3 "$here/recorded_names.py" "$prefix"

paths=("${names[@]/#/$prefix/lib64/}")
compile_every_function() { # OUTPUT ARGUMENTS...
  local out=$1
  shift
  $CC -std=c11 "${strict[@]}" "$here/every_function.c" -I "$work" -I "$prefix/include" "$@" -ldl -o "$out"
}
link_and_find() {
  local links=("${names[@]/#lib/-l}")
  compile_every_function "$work/links" -L "$prefix/lib64" -Wl,--no-as-needed "${links[@]%.so}" -lportacl &&
    LD_LIBRARY_PATH="$prefix/lib64" "$work/links" "${paths[@]}"
}
check 'every function links, and has the same address through every name' link_and_find
compile_every_function "$work/opens" -DONLY_DLOPEN
for name in "${names[@]}"; do
  check "every function is found after opening $name first" "$work/opens" "$prefix/lib64/$name" "${paths[@]}"
done

# As build scripts ask for the product: the third word of line 7, to which they put the family's name.
product_of() { # WHAT IT IS CALLED, ITS SHORT NAME
  local found
  found=$(PORTACL_SOC=$1 bash -c 'npu-smi info|awk -F" " "NF > 0 && NR==7 {print \$3}"') || return
  [[ $found == "$2" ]] || { echo "$found" && return 1; }
}
names_the_product() {
  (source "$prefix/set_env.sh" && product_of Ascend910B1 910B1 && product_of Ascend950PR_9579 950PR_9579 &&
    product_of Ascend310P3 310P3 && [[ $(PORTACL_DEVICE_COUNT=3 npu-smi info | grep -c '910B1') == 3 ]])
}
refuses_an_unknown_product() {
  (source "$prefix/set_env.sh" && ! PORTACL_SOC=Ascend42 npu-smi info >"$work/table" 2>"$work/said" && [[ ! -s $work/table ]] &&
    [[ $(wc -l <"$work/said") -le 2 ]] && grep -q 'PORTACL_SOC has the value \[Ascend42\], accepted: Ascend910A, ' "$work/said")
}
check 'npu-smi names the product' names_the_product
check 'npu-smi says which product is unknown' refuses_an_unknown_product
says_how_it_is_used() { ! "$prefix/bin/npu-smi" && ! "$prefix/bin/npu-smi" topo && "$prefix/bin/npu-smi" --help; }
check 'npu-smi says how it is used' says_how_it_is_used
for folder in opp runtime compiler; do
  check "the version in $folder" grep -qx 'version=9.1.0' "$prefix/$folder/ascend_portacl_install.info"
done

$CC -std=c11 "${strict[@]}" "$here/two_phase.c" -I "$prefix/include" -L "$prefix/lib64" \
  -lopapi_nn -lascendcl -lnnopbase -o "$work/two_phase"
check 'a C11 program' env LD_LIBRARY_PATH="$prefix/lib64" "$work/two_phase"

# Programs that ask for more than there is: the names of what is missing, and nothing else.
missing_names() { # FILE
  "$root/dev" demo --from "$build" "$1" >"$work/demo" 2>&1 && fail "demo returned 0 for $1"
  grep '^  [a-z]' "$work/demo" || { cat "$work/demo" && fail "demo names nothing for $1"; }
}
missing_names "$here/absent_operator.cpp" >"$work/named"
printf '  %s\n' aclnnAbsentInATemplate aclnnAbsentLoss aclnnAbsentLossGetWorkspaceSize \
  'aclnnop/aclnn_absent_loss.h (header)' >"$work/expected"
check 'demo names the operators whose header is missing' same "$work/expected" "$work/named"
missing_names "$here/undefined_operator.cpp" >"$work/named"
printf '  %s\n' aclnnUndefinedLoss >"$work/expected"
check 'demo names the operators that do not link' same "$work/expected" "$work/named"

for example in "${examples[@]}"; do
  check "demo with $(name_of "$example")" "$root/dev" demo --from "$build" "$example"
done

moved="$work/moved to here"
cp -RP -- "$prefix" "$moved"
mv -- "$prefix" "$work/gone"
check 'a prefix that was moved' run_examples "$moved"
check 'a prefix that was moved, by find_package' run_examples_by_cmake "$moved"
check 'a prefix that was moved, by pkg-config' run_examples_by_pkg_config "$moved"
# Its own libraries, where the system's cannot be loaded.
mkdir "$work/hidden" && touch "$work/hidden/libsleef.so.3" "$work/hidden/libgloo.so.0"
uses_its_own_libraries() {
  LD_LIBRARY_PATH="$work/hidden" "$moved/bin/portacl-info" | grep -E '^(SLEEF|Gloo) ' >"$work/told"
  printf '%-16s %s\n' SLEEF "$moved/lib64/portacl/libportacl_sleef.so" Gloo "$moved/lib64/portacl/libportacl_gloo.so" | same - "$work/told"
}
check 'SLEEF and Gloo of a prefix that was moved' uses_its_own_libraries
mv -- "$work/gone" "$prefix"

touch "$prefix/lib64/of_the_user"
mkdir -p "$work/old/include"
check 'install over an installation' "$root/dev" install --from "$build" "$prefix"
check 'uninstall' "$root/dev" uninstall "$prefix"
[[ $(find "$prefix" ! -type d -printf '%P\n') == lib64/of_the_user ]] || fail "uninstall left: $(find "$prefix")"
rm -rf -- "$prefix"
check 'install again' "$root/dev" install --from "$build" "$prefix"
check 'uninstall again' "$root/dev" uninstall "$prefix"
[[ ! -e $prefix ]] || fail "uninstall left: $(find "$prefix")"
check 'install beside what was there' "$root/dev" install --from "$build" "$work/old"
check 'uninstall beside what was there' "$root/dev" uninstall "$work/old"
[[ $(find "$work/old" -printf '%P\n' | sort | paste -sd' ') == ' include' ]] || fail "uninstall left or took: $(find "$work/old")"
echo 'ok: nothing is left behind, and nothing else is taken'
