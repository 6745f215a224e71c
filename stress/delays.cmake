# The waits of the preset delays: that they work. And how the other tests run with them.
if(NOT PFS_DELAYS)
  return()
endif()
add_executable(delays_test unit/delays_test.c)
target_compile_options(delays_test PRIVATE -fno-builtin)
target_link_libraries(delays_test PRIVATE stress_harness)
# Three seeds: each finds it within a second, nearly always.
add_test(NAME delays.window COMMAND sh -c "for i in 1 2 3; do \"$@\" && exit; done; exit 1" sh
  $<TARGET_FILE:delays_test> window 2)
add_test(NAME delays.seed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/delays_seed.sh
  $<TARGET_FILE:delays_test>)
foreach(part panic free_twice)
  add_test(NAME delays.said.${part} COMMAND sh -c "\"$1\" ${part} 2>&1 | grep SEED=77" sh
    $<TARGET_FILE:delays_test>)
endforeach()
set_tests_properties(delays.window delays.seed delays.said.panic delays.said.free_twice PROPERTIES
  LABELS unit TIMEOUT 60)
set_tests_properties(delays.said.panic PROPERTIES ENVIRONMENT PFS_DELAYS_SEED=77)
if(PFS_MEMORY)
  set_tests_properties(delays.said.free_twice PROPERTIES ENVIRONMENT
    "PFS_DELAYS_SEED=77;LD_PRELOAD=$<TARGET_FILE:pfsmalloc>")
else()
  set_tests_properties(delays.said.free_twice PROPERTIES DISABLED TRUE) # of the allocator
endif()
