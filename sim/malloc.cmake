# The allocator, compiled for the simulated machine: what searches need of it (docs/simulation.md).
foreach(name bin cache classes stock extents give map registry slots take)
  list(APPEND malloc_sources ${PROJECT_SOURCE_DIR}/memory/malloc/${name}.c)
endforeach()
add_executable(malloc_search malloc_search.c malloc_calls.c malloc_check.c malloc_map.c malloc_world.c
  scene_command.c ${malloc_sources})
target_link_libraries(malloc_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_source_files_properties(${malloc_sources} malloc_calls.c PROPERTIES
    COMPILE_OPTIONS -fsanitize=thread)
endif()

# Every state of every scenario, with both memories; with C11's orders, and for data races, so many
# classes of schedules as end in seconds.
if(PFS_TESTS)
  set(scenarios word words words3 slabs empty spare groups last_bit late late3 pages ring fills ring3 idle
    both flush full stock grows first ends ticked root)
  foreach(scenario ${scenarios})
    foreach(memory sc tso views)
      set(search --executions 3000)
      set(expected ": no violation")
      if(PFS_SANITIZE)
        set(search --executions 100)
      elseif(NOT memory STREQUAL views)
        set(search --search states --no_races)
        set(expected ", all there are: no violation")
      endif()
      add_test(NAME sim.malloc.${scenario}.${memory} COMMAND malloc_search explore --quiet
        --scenario ${scenario} --memory ${memory} ${search})
      set_tests_properties(sim.malloc.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION "${expected}")
    endforeach()
  endforeach()
  # Without the barrier nobody takes, and nothing is lost.
  if(NOT PFS_SANITIZE)
    foreach(failing 1 2)
      add_test(NAME sim.malloc.lost_barrier.${failing} COMMAND malloc_search explore --quiet
        --scenario ring3 --memory tso --search states --no_races --lost_barrier ${failing})
      set_tests_properties(sim.malloc.lost_barrier.${failing} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION ", all there are: no violation")
    endforeach()
  endif()
endif()
