# The memory of rings' slots on the simulated machine (docs/explanation/search-results.md).
add_executable(slots_search slots_search.c slots_calls.c scene_command.c)
target_link_libraries(slots_search PRIVATE pfslab_sim)
target_compile_definitions(slots_search PRIVATE PFS_SIM_SMALL)
if(NOT PFS_SANITIZE)
  set_property(SOURCE slots_calls.c APPEND PROPERTY COMPILE_OPTIONS -fsanitize=thread)
endif()

if(PFS_TESTS)
  add_searches(slots purge twice several full alone)
  add_endless_searches(slots loop loop_purge)
endif()
