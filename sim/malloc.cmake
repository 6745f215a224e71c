# The allocator, compiled for the simulated machine: what searches need of it (docs/simulation.md).
foreach(name bin cache classes extents give map registry slots take)
  list(APPEND malloc_sources ${PROJECT_SOURCE_DIR}/memory/malloc/${name}.c)
endforeach()
add_executable(malloc_search malloc_search.c malloc_calls.c malloc_check.c malloc_map.c malloc_world.c
  ${malloc_sources})
target_link_libraries(malloc_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_source_files_properties(${malloc_sources} malloc_calls.c PROPERTIES
    COMPILE_OPTIONS -fsanitize=thread)
endif()
