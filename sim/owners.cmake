# A memory trace's adds, compiled for the simulated machine (docs/simulation.md).
set(owners_source ${PROJECT_SOURCE_DIR}/memory/trace/add.c)
add_executable(owners_search owners_search.c scene_command.c ${owners_source})
target_link_libraries(owners_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_property(SOURCE ${owners_source} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=thread)
endif()

# Every class of schedules of every scenario, with all three memories.
if(PFS_TESTS)
  foreach(scenario adds limit limits room rooms undo undone twice several thrice late used resize
      resized move moved moves hand report call)
    foreach(memory sc tso views)
      set(search "")
      set(expected ", all there are: no violation")
      if(PFS_SANITIZE)
        set(search --executions 100)
        set(expected ": no violation")
      endif()
      add_test(NAME sim.owners.${scenario}.${memory} COMMAND owners_search explore --quiet
        --scenario ${scenario} --memory ${memory} ${search})
      set_tests_properties(sim.owners.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION "${expected}")
    endforeach()
  endforeach()
endif()
