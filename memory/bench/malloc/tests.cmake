# Tests of bench/malloc. None asserts on time. glibc's instructions for a pair of calls vary by
# version, so the test only asserts that they are counted.
set(load $<TARGET_FILE:pfs-malloc-load>)
set(traces ${PROJECT_SOURCE_DIR}/results/traces)
foreach(one "tiny;--count=10" "pair;--threads=2;--count=5000" "handoff;--count=5000"
    "drain;--threads=3;--count=3000" "server;--count=20000;--trace=${traces}/redis.pfstrace"
    "burst;--count=3" "buffers;--count=1000" "idle;--threads=3;--count=300000;--idle-ms=20"
    "idle-foreign;--threads=3;--count=300000" "free-only;--threads=9;--count=30000;--idle-ms=20"
    "dying;--count=40" "large;--count=10" "mixed;--count=20000" "tails;--count=16"
    "replay;--count=2;--trace=${traces}/mariadb.pfstrace"
    "replay;--count=2;--trace=${traces}/sqlite3.pfstrace")
  list(GET one 0 workload)
  string(REGEX MATCH "[a-z0-9]+\\.pfstrace" trace "${one}")
  string(REPLACE ".pfstrace" "" trace ".${trace}")
  string(REGEX REPLACE "^\\.$" "" trace "${trace}")
  add_test(NAME bench_malloc.${workload}${trace} COMMAND pfs-malloc-load ${one})
  set_tests_properties(bench_malloc.${workload}${trace} PROPERTIES LABELS bench-smoke)
endforeach()
add_test(NAME bench_malloc.wrong COMMAND pfs-malloc-load pair --count=x)
set_tests_properties(bench_malloc.wrong PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "--count 'x': give a whole number")
add_test(NAME bench_malloc.no_trace COMMAND pfs-malloc-load replay)
set_tests_properties(bench_malloc.no_trace PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "needs --trace")
add_test(NAME bench_malloc.run COMMAND pfs-malloc-run -- ${load} burst --count=20)
set_tests_properties(bench_malloc.run PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "\"exit\": 0, .*\"peak_bytes\": [1-9][0-9]+")
add_test(NAME bench_malloc.run_fails COMMAND pfs-malloc-run -- sh -c "exit 7")
set_tests_properties(bench_malloc.run_fails PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "\"exit\": 7, \"signal\": 0")
if(TARGET pfs-malloc-count)
  # glibc executes locked instructions for foreign blocks.
  add_test(NAME bench_malloc.count COMMAND pfs-malloc-count foreign-64 pair-64)
  set_tests_properties(bench_malloc.count PROPERTIES LABELS unit
    PASS_REGULAR_EXPRESSION "foreign-64 1000 1[0-9]+ [1-9][0-9]*\npair-64 200 [1-9][0-9]+ 0\n")
endif()
