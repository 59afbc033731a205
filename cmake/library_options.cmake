# How the sources of portacl_objects are optimised, and which headers are precompiled for them. src/CMakeLists.txt includes it where all
# sources and `formulas`, those of operators, are known.
# SPDX-License-Identifier: Apache-2.0

# The loops of formulas are written as vectors already: what the compiler would pack besides are addresses, at a loss. With precompiled headers
# g++ packs nevertheless, since it optimises as their options say.
set(formula_options -fno-tree-slp-vectorize)
# clang takes ten minutes and more for a formula's kernels with these; the sanitized build of gcc has them.
if(PORTACL_SANITIZE MATCHES "fuzzer")
  list(APPEND formula_options -fno-sanitize=undefined,fuzzer-no-link)
elseif(PORTACL_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND formula_options -fno-tree-pta)  # half of the time that gcc takes for a formula's kernels
endif()
set_source_files_properties(${formulas} PROPERTIES COMPILE_OPTIONS "${formula_options}")

# clang passes vectors as the file's instruction set has it.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(engine/functions/sleef_call_avx2.cc PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(engine/functions/sleef_call_avx512.cc PROPERTIES COMPILE_OPTIONS "-mavx512f")
endif()

# A caller's stack may be small (docs/runtime.md): what needs more than this lives in the thread's memory.
if(NOT PORTACL_SANITIZE)
  target_compile_options(portacl_objects PRIVATE $<$<CONFIG:Release>:-Wframe-larger-than=40960>)
endif()

# Half of what a source without vector code costs is in these headers.
set(standard_headers
  <algorithm> <array> <atomic> <bit> <cmath> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <iterator> <limits> <memory> <mutex> <new>
  <optional> <span> <string> <string_view> <system_error> <type_traits> <utility> <vector>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # clang refuses them where a source has options of its own
  target_precompile_headers(portacl_objects PRIVATE ${standard_headers})
endif()

# Sources that need other precompiled headers than those: g++ optimises as the options of these say, whatever the source's own are. A target
# that is otherwise empty makes them. Only Ninja knows across targets how they are made.
function(precompile_for name sources options)
  cmake_parse_arguments(arg "" "" "HEADERS;WITH" ${ARGN})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL base/precompiled.cc)
  foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    set_target_properties(${name} PROPERTIES ${property} "$<TARGET_PROPERTY:portacl_objects,${property}>")
  endforeach()
  add_dependencies(${name} portacl_functions)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE portacl_options portacl_highway Threads::Threads)
  target_compile_options(${name} PRIVATE ${options})
  target_precompile_headers(${name} PRIVATE ${standard_headers} ${arg_HEADERS})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx)
  # An object depends on the headers themselves, as tools read.
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS ${options} -Winvalid-pch -include ${made} -fpch-deps ${arg_WITH})
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON OBJECT_DEPENDS ${made}.gch)
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_GENERATOR STREQUAL "Ninja" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(vector_sources)
  set(call_sources)
  get_target_property(sources portacl_objects SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} line REGEX "^#include \"base/foreach_target.h\"" LIMIT_COUNT 1)
    if(line)
      list(APPEND vector_sources ${source})
    elseif(source MATCHES "^(acl|aclnnop/[a-z0-9_]+|aclop|profile|record|sanitizer)/"
           AND NOT source MATCHES "^(acl/(queue|stream)|aclnnop/jobs)/|^record/summary.cc")
      list(APPEND call_sources ${source})
    endif()
  endforeach()

  # What a call passes once: it has no loop over elements, and takes a sixth less time to compile so. Sanitizers have -O1 everywhere.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT PORTACL_SANITIZE)
    precompile_for(portacl_call_headers "${call_sources}" "-O1;-finline-functions;-finline-small-functions")
  endif()

  # Sources with vector code parse Highway once for each instruction set besides: two seconds each. So it is precompiled for them
  # (base/foreach_target.h), if it is the version whose guards are known. g++ for aarch64 declares SVE in a way of its own.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PORTACL_HIGHWAY_INCLUDE}/hwy/highway.h)
  file(STRINGS ${PORTACL_HIGHWAY_INCLUDE}/hwy/highway.h highway_version REGEX "^#define HWY_(MAJOR 1|MINOR 0|PATCH 3)$")
  list(LENGTH highway_version known_parts)
  if(known_parts EQUAL 3 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(vector_options)
    if(PORTACL_SANITIZE)
      set(vector_options -fno-tree-pta)
    endif()
    # g++ forgets that Highway turns the two warnings off.
    precompile_for(portacl_vector_headers "${vector_sources}" "${vector_options}"
      HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/engine/map/vector_headers.h
      WITH -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endif()
