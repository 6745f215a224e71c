# The memory of rings' slots on the simulated machine (docs/explanation/search-results.md).
add_executable(slots_search slots_search.c slots_calls.c scene_command.c)
target_link_libraries(slots_search PRIVATE pfslab_sim)
target_compile_definitions(slots_search PRIVATE PFS_SIM_SMALL)
if(NOT PFS_SANITIZE)
  set_property(SOURCE slots_calls.c APPEND PROPERTY COMPILE_OPTIONS -fsanitize=thread)
endif()

if(PFS_TESTS)
  add_searches(slots purge twice several full alone)
  # Threads that loop forever: all states.
  if(NOT PFS_SANITIZE)
    foreach(scenario loop loop_purge)
      foreach(memory sc tso)
        add_test(NAME sim.slots.${scenario}.${memory} COMMAND slots_search explore --quiet
          --scenario ${scenario} --memory ${memory} --search fixpoint --no-races)
        set_tests_properties(sim.slots.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
          PASS_REGULAR_EXPRESSION ", all states: no violation")
      endforeach()
    endforeach()
  endif()
endif()
