# The allocator, compiled for the simulated machine: what searches need of it (docs/explanation/search-results.md).
foreach(name arena_caches attach bin cache classes descriptors extents give lists locks map own purge registry rings slabs
    slots stock take)
  list(APPEND malloc_sources ${PROJECT_SOURCE_DIR}/memory/malloc/${name}.c)
endforeach()
add_executable(malloc_search malloc_search.c malloc_calls.c malloc_check.c
  malloc_map.c malloc_racks.c malloc_slots.c malloc_world.c
  scene_command.c ${malloc_sources})
target_link_libraries(malloc_search PRIVATE pfslab_sim)
target_compile_definitions(malloc_search PRIVATE PFS_SIM_SMALL)
if(NOT PFS_SANITIZE)
  set_source_files_properties(${malloc_sources} malloc_calls.c PROPERTIES
    COMPILE_OPTIONS -fsanitize=thread)
endif()

# And in virtual time, with its real sizes.
if(NOT PFS_SANITIZE)
  foreach(name arena locks tick tick_round)
    list(APPEND malloc_timed_sources ${PROJECT_SOURCE_DIR}/memory/malloc/${name}.c)
  endforeach()
  list(APPEND malloc_timed_sources ${malloc_sources})
  add_library(malloc_timed_sources OBJECT malloc_timed_loads.c ${malloc_timed_sources})
  target_link_libraries(malloc_timed_sources PRIVATE pfslab_sim)
  target_compile_options(malloc_timed_sources PRIVATE -fsanitize=thread -D_GNU_SOURCE=
    -include ${CMAKE_CURRENT_SOURCE_DIR}/malloc_timed_names.h)
  add_executable(malloc_timed malloc_timed.c malloc_timed_copy.c malloc_timed_world.c malloc_racks.c
    malloc_slots.c
    $<TARGET_OBJECTS:malloc_timed_sources>)
  set_source_files_properties(malloc_timed_copy.c PROPERTIES
    COMPILE_OPTIONS "-fsanitize=thread;$<IF:$<C_COMPILER_ID:Clang>,-fno-builtin,-fno-tree-loop-distribute-patterns>")
  target_link_libraries(malloc_timed PRIVATE pfslab_sim)
  foreach(function pfs_extents_has_dirty pfs_extents_give pfs_extents_take
      pfs_caches_take_back) # are counted
    target_link_options(malloc_timed PRIVATE LINKER:--wrap=${function})
  endforeach()
endif()

# Few threads, more than CPUs; and 256. A needless slab or two come of races, see docs/explanation/search-results.md.
if(PFS_TESTS AND NOT PFS_SANITIZE)
  foreach(load pairs handoff server waves)
    set(small --threads 24 --machine "numa:2 core:8 pu:1" --calls 4000 --tick-us 1000)
    add_test(NAME sim.malloc.timed.${load} COMMAND malloc_timed --load ${load} ${small}
      --needless-most 2)
    add_test(NAME sim.malloc.timed.256.${load} COMMAND malloc_timed --load ${load} --calls 2000
      --tick-us 3000 --needless-most 2)
    list(APPEND timed_tests sim.malloc.timed.${load} sim.malloc.timed.256.${load})
  endforeach()
  # Two processes, two places in memory: the same times.
  add_test(NAME sim.malloc.timed.same COMMAND sh -c
    "a=$($0 --load server --threads 24 --machine 'numa:2 core:8 pu:1' --tick-us 300) && \
     b=$(X=longer $0 --load server --threads 24 --machine 'numa:2 core:8 pu:1' --tick-us 300) && \
     test -n \"$a\" && test \"$a\" = \"$b\"" $<TARGET_FILE:malloc_timed>)
  add_test(NAME sim.malloc.timed.wrong COMMAND malloc_timed --load nothing)
  set_tests_properties(sim.malloc.timed.wrong PROPERTIES PASS_REGULAR_EXPRESSION "--load")
  set_tests_properties(${timed_tests} sim.malloc.timed.same sim.malloc.timed.wrong PROPERTIES
    LABELS sim TIMEOUT 300)
endif()

# Every state of every scenario, with both memories; with C11's orders, and for data races, so many
# classes of schedules as end in seconds.
if(PFS_TESTS)
  set(scenarios word words words3 slabs empty spare groups last_bit late late3 pages ring fills
    ring3 idle own
    both flush full stock ticks refill arenas grows first ends ticked wiped late_wiped root)
  foreach(scenario ${scenarios})
    foreach(memory sc tso views)
      set(search --executions 3000)
      set(expected ": no violation")
      if(PFS_SANITIZE)
        set(search --executions 100)
      elseif(NOT memory STREQUAL views)
        set(search --search states --no-races)
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
        --scenario ring3 --memory tso --search states --no-races --lost-barrier ${failing})
      set_tests_properties(sim.malloc.lost_barrier.${failing} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION ", all there are: no violation")
    endforeach()
  endif()
endif()
