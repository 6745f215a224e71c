# The allocator's racks on the simulated machine (docs/explanation/search-results.md).
foreach(name arena_caches rack racks large_end)
  list(APPEND rack_sources ${PROJECT_SOURCE_DIR}/memory/malloc/${name}.c)
endforeach()
add_executable(rack_search rack_search.c rack_calls.c rack_check.c scene_command.c ${rack_sources})
# Few slots, so that a rack is full.
target_compile_definitions(rack_search PRIVATE PFS_RACK_SLOTS=3u)
target_link_libraries(rack_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_property(SOURCE ${rack_sources} rack_calls.c APPEND PROPERTY COMPILE_OPTIONS
    -fsanitize=thread)
endif()

if(PFS_TESTS)
  add_searches(rack tick group turn sizes slots seen two back ends ended bound flush)
  add_endless_searches(rack loop loop_one loop_sizes loop_ends loop_bound loop_two loop_back)
endif()
