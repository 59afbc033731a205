# Writes the CTest tests of a GoogleTest executable, whose tests it lists: a process for each suite, or what processes.txt says of it.
#   cmake -D NAME= -D EXECUTABLE= -D EMULATOR= -D LEFT_OUT= -D TABLE= -D OUTPUT= -P register_processes.cmake
# LEFT_OUT holds patterns of tests that are not registered, with colons between them. When CTest runs, PORTACL_TESTS_EXCEPT may hold more of them,
# each behind a colon, and PORTACL_TESTS_DRAWN "INDEX of COUNT: NAMES": of the suites of these executables one test in so many runs.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)
cmake_path(GET EXECUTABLE PARENT_PATH folder)
execute_process(COMMAND ${EMULATOR} ${EXECUTABLE} --gtest_list_tests --gtest_filter=-${LEFT_OUT}
                WORKING_DIRECTORY ${folder} TIMEOUT 60 OUTPUT_VARIABLE listing RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} does not list its tests (${result}):\n${listing}")
endif()

set(script "")
# add(NAME PATTERN property...): one process, which runs the tests that the pattern selects.
list(JOIN EMULATOR "\" \"" words)
string(REGEX REPLACE "^(.+)$" "\"\\1\"" words "${words}")
function(add name pattern)
  string(APPEND script "  add_test(\"${name}\" ${words} \"${EXECUTABLE}\" \"--gtest_filter=${pattern}:-${LEFT_OUT}\$ENV{PORTACL_TESTS_EXCEPT}\")\n"
    "  set_tests_properties(\"${name}\" PROPERTIES WORKING_DIRECTORY \"${folder}\" ${ARGN})\n")
  set(script "${script}" PARENT_SCOPE)
endfunction()

# rule_of(SUITE): sets `rule` to "each" or to the number of processes, from the first line that fits.
file(STRINGS ${TABLE} rules REGEX "^(each|[0-9]+) ")
macro(rule_of suite)
  set(rule 1)
  foreach(line IN LISTS rules)
    string(REGEX MATCH "^([^ ]+) +(.*)$" fits "${line}")
    set(wanted ${CMAKE_MATCH_1})
    if("${NAME}.${suite}" MATCHES "^(${CMAKE_MATCH_2})$")
      set(rule ${wanted})
      break()
    endif()
  endforeach()
endmacro()

# A suite is a line that begins in the first column and ends in a dot, its tests are the indented lines after it; a "#" begins the value
# of a parameter, which may be any text.
string(REGEX REPLACE " +#[^\n]*" "" listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    list(APPEND suites ${suite})
    set("tests of ${suite}" "")
  elseif(line MATCHES "^  ([^ ]+)$")
    list(APPEND "tests of ${suite}" ${CMAKE_MATCH_1})
  endif()
endforeach()

macro(add_each suite)
  foreach(test IN LISTS "tests of ${suite}")
    add(${NAME}.${suite}.${test} ${suite}.${test} "SKIP_REGULAR_EXPRESSION \"[[]  SKIPPED \"")
  endforeach()
endmacro()

string(APPEND script "if(CTEST_CONFIGURATION_TYPE STREQUAL \"cases\")\n")
foreach(suite IN LISTS suites)
  add_each(${suite})
endforeach()
string(APPEND script "else()\n"
  "  set(drawn 0)\n  set(drawn_of 1)\n"
  "  if(\"\$ENV{PORTACL_TESTS_DRAWN} \" MATCHES \"^([0-9]+) of ([0-9]+):.* ${NAME} \")\n"
  "    set(drawn \${CMAKE_MATCH_1})\n    set(drawn_of \${CMAKE_MATCH_2})\n  endif()\n")
foreach(suite IN LISTS suites)
  rule_of(${suite})
  if(rule STREQUAL "each")
    add_each(${suite})
  elseif(rule EQUAL 1)
    add(${NAME}.${suite} ${suite}.* "ENVIRONMENT \"GTEST_TOTAL_SHARDS=\${drawn_of};GTEST_SHARD_INDEX=\${drawn}\"")
  else()
    foreach(number RANGE 1 ${rule})
      math(EXPR index "${number} - 1")
      string(APPEND script "  math(EXPR shards \"${rule} * \${drawn_of}\")\n  math(EXPR shard \"${index} * \${drawn_of} + \${drawn}\")\n")
      add("${NAME}.${suite}.part${number}of${rule}" ${suite}.* "ENVIRONMENT \"GTEST_TOTAL_SHARDS=\${shards};GTEST_SHARD_INDEX=\${shard}\"")
    endforeach()
  endif()
endforeach()
string(APPEND script "endif()\n")
file(WRITE ${OUTPUT} "${script}")
