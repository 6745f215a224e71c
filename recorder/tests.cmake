# Tests of recorder/: the format, the tool, and a program that is recorded. ThreadSanitizer has
# nothing to see in the first two: they have one thread. No code of this folder uses
# containers/atomic.h, so with PFS_DELAYS nothing waits.
if(PFS_SANITIZE MATCHES thread OR PFS_DELAYS)
  return()
endif()
add_executable(trace_test trace_test.c)
target_link_libraries(trace_test PRIVATE pfs_trace)
add_test(NAME unit.trace COMMAND trace_test ${CMAKE_CURRENT_BINARY_DIR}/trace_test.pfstrace)

set(check /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_trace.py)
add_test(NAME trace.tool
  COMMAND ${check} tool $<TARGET_FILE:pfs-trace> ${PROJECT_SOURCE_DIR}/results/traces)
set_tests_properties(unit.trace trace.tool PROPERTIES LABELS unit TIMEOUT 120)

# Nothing of it differs in a build that counts.
if(TARGET recorder AND NOT PFS_COUNTING)
  add_executable(mapped_file_test mapped_file_test.c mapped_file.c)
  target_compile_definitions(mapped_file_test PRIVATE PFS_MAPPED_FILE_STEP=1048576)
  add_test(NAME unit.mapped_file
    COMMAND mapped_file_test ${CMAKE_CURRENT_BINARY_DIR}/mapped_file_test.bin)
  set_tests_properties(unit.mapped_file PROPERTIES LABELS unit TIMEOUT 120)

  # What it allocates, it says; the trace must say the same.
  add_executable(recorded recorded.c)
  target_link_libraries(recorded PRIVATE Threads::Threads)
  target_compile_options(recorded PRIVATE -fno-builtin)
  set(program $<TARGET_FILE:recorder> $<TARGET_FILE:pfs-trace> $<TARGET_FILE:recorded>)
  if(PFS_BENCH)
    list(APPEND program $<TARGET_FILE:pfs-bench>)
  endif()
  add_executable(awkward awkward.c)
  target_link_libraries(awkward PRIVATE Threads::Threads)
  target_compile_options(awkward PRIVATE -fno-builtin)
  foreach(what files ends children full)
    add_test(NAME trace.recorder_${what}
      COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_recorder.py ${what}
        $<TARGET_FILE:recorder> $<TARGET_FILE:pfs-trace> $<TARGET_FILE:awkward>)
    set_tests_properties(trace.recorder_${what} PROPERTIES LABELS unit TIMEOUT 120
      SKIP_RETURN_CODE 77)
  endforeach()
  add_test(NAME trace.overhead COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/overhead.py
    --build ${PROJECT_BINARY_DIR} --rounds 1)
  set_tests_properties(trace.overhead PROPERTIES LABELS unit TIMEOUT 120)
  foreach(what program fork limits wrong)
    add_test(NAME trace.recorder_${what} COMMAND ${check} ${what} ${program})
    set_tests_properties(trace.recorder_${what} PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endif()
