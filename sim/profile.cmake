# The table of the heap profile on the simulated machine (docs/simulation.md).
add_executable(profile_search profile_search.c profile_calls.c scene_command.c)
target_link_libraries(profile_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_source_files_properties(profile_calls.c PROPERTIES COMPILE_OPTIONS -fsanitize=thread)
endif()

# Every class of schedules of every scenario, with all three memories.
if(PFS_TESTS)
  foreach(scenario same twice collide neighbours walk scarce)
    foreach(memory sc tso views)
      set(search "")
      set(expected ", all there are: no violation")
      if(PFS_SANITIZE)
        set(search --executions 100)
        set(expected ": no violation")
      endif()
      add_test(NAME sim.profile.${scenario}.${memory} COMMAND profile_search explore --quiet
        --scenario ${scenario} --memory ${memory} ${search})
      set_tests_properties(sim.profile.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION "${expected}")
    endforeach()
  endforeach()
endif()
