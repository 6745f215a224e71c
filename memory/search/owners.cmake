# A memory trace's adds, compiled for the simulated machine (docs/explanation/search-results.md).
set(owners_source ${PROJECT_SOURCE_DIR}/memory/trace/add.c)
add_executable(owners_search owners_search.c scene_command.c ${owners_source})
target_link_libraries(owners_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_property(SOURCE ${owners_source} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=thread)
endif()

if(PFS_TESTS)
  add_searches(owners adds limit limits room rooms undo undone twice several thrice late used resize
    resized move moved moves hand report call)
endif()
