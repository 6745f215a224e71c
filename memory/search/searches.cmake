# add_searches(NAME SCENARIO...) - tests sim.NAME.SCENARIO.MEMORY of the program NAME_search: every class
# of schedules of every scenario, with all three memories; a hundred executions under sanitizers.
function(add_searches name)
  set(search "")
  set(expected ", all there are: no violation")
  if(PFS_SANITIZE)
    set(search --executions 100)
    set(expected ": no violation")
  endif()
  foreach(scenario ${ARGN})
    foreach(memory sc tso views)
      add_test(NAME sim.${name}.${scenario}.${memory} COMMAND ${name}_search explore --quiet
        --scenario ${scenario} --memory ${memory} ${search})
      set_tests_properties(sim.${name}.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION "${expected}")
    endforeach()
  endforeach()
endfunction()

# add_endless_searches(NAME SCENARIO...) - tests sim.NAME.SCENARIO.MEMORY of scenarios whose threads loop
# forever: all states. Sanitizers are too slow for them.
function(add_endless_searches name)
  if(PFS_SANITIZE)
    return()
  endif()
  foreach(scenario ${ARGN})
    foreach(memory sc tso)
      add_test(NAME sim.${name}.${scenario}.${memory} COMMAND ${name}_search explore --quiet
        --scenario ${scenario} --memory ${memory} --search fixpoint --no-races)
      set_tests_properties(sim.${name}.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION ", all states: no violation")
    endforeach()
  endforeach()
endfunction()
