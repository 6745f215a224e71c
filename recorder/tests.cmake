# Tests of recorder/: the format, the tool, and a program that is recorded.
add_executable(trace_test trace_test.c)
target_link_libraries(trace_test PRIVATE pfs_trace)
add_test(NAME unit.trace COMMAND trace_test ${CMAKE_CURRENT_BINARY_DIR}/trace_test.pfstrace)

set(check /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_trace.py)
add_test(NAME trace.tool
  COMMAND ${check} tool $<TARGET_FILE:pfs-trace> ${PROJECT_SOURCE_DIR}/results/traces)
set_tests_properties(unit.trace trace.tool PROPERTIES LABELS unit TIMEOUT 120)

if(TARGET recorder)
  # What it allocates, it says; the trace must say the same.
  add_executable(recorded recorded.c)
  target_link_libraries(recorded PRIVATE Threads::Threads)
  target_compile_options(recorded PRIVATE -fno-builtin)
  set(program $<TARGET_FILE:recorder> $<TARGET_FILE:pfs-trace> $<TARGET_FILE:recorded>)
  if(PFS_BENCH)
    list(APPEND program $<TARGET_FILE:pfs-bench>)
  endif()
  foreach(what program fork limits wrong)
    add_test(NAME trace.recorder_${what} COMMAND ${check} ${what} ${program})
    set_tests_properties(trace.recorder_${what} PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endif()
