# The table of the heap profile on the simulated machine (docs/explanation/search-results.md).
add_executable(profile_search profile_search.c profile_calls.c scene_command.c)
target_link_libraries(profile_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_source_files_properties(profile_calls.c PROPERTIES COMPILE_OPTIONS -fsanitize=thread)
endif()

if(PFS_TESTS)
  add_searches(profile same twice collide neighbours walk scarce)
endif()
