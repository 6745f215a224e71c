# `pfs-sim run`: the workloads of bench/, their scene and checks, compiled for the machine. What
# runs on virtual threads is instrumented, as the containers are.
set(bench ${PROJECT_SOURCE_DIR}/bench)
file(STRINGS ${bench}/workloads.def lines REGEX "^PFS_WORKLOAD\\(")
set(workload_sources ${bench}/live.c ${bench}/partners.c ${bench}/tides.c)
foreach(line ${lines})
  string(REGEX REPLACE "^PFS_WORKLOAD\\((.*)\\)$" "${bench}/workload_\\1.c" source ${line})
  list(APPEND workload_sources ${source})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${bench}/workloads.def)
set(scene_sources allocator.c check.c counters.c histogram.c layout_option.c options.c
  options_check.c scene.c scene_check.c
  series.c touched.c trace_load.c traits.c workload.c)
list(TRANSFORM scene_sources PREPEND ${bench}/)

add_library(pfslab_sim_run STATIC ${workload_sources} ${scene_sources} run/ring_backend.c
  seams/arena.c run/due.c run/parts.c run/timed_calls.c run/trial_backend.c command/command_run.c
  timed/hot_lines.c run/run_options.c run/run_result.c)
target_include_directories(pfslab_sim_run PRIVATE ${PROJECT_SOURCE_DIR}/containers)
target_link_libraries(pfslab_sim_run
  PUBLIC pfslab_sim pfs_trace PRIVATE PkgConfig::HWLOC ${CMAKE_DL_LIBS} m)
foreach(function malloc calloc realloc aligned_alloc free) # see seams/arena.h
  target_link_options(pfslab_sim_run INTERFACE LINKER:--wrap=${function})
endforeach()
if(NOT PFS_SANITIZE)
  set_source_files_properties(${workload_sources} run/ring_backend.c run/timed_calls.c PROPERTIES
    COMPILE_OPTIONS -fsanitize=thread)
endif()
target_sources(pfs-sim PRIVATE command/command_soak.c run/soak_draw.c)
target_link_libraries(pfs-sim PRIVATE pfslab_sim_run PkgConfig::JANSSON)

if(PFS_TESTS)
  add_executable(counts_test tests/counts_test.c)
  target_link_libraries(counts_test PRIVATE pfslab_sim)
  add_test(NAME sim.counts COMMAND counts_test)
  add_executable(pass_counts_test tests/pass_counts_test.c)
  target_link_libraries(pass_counts_test PRIVATE pfslab_sim)
  add_test(NAME sim.pass_counts COMMAND pass_counts_test)
  add_executable(steps_test tests/steps_test.c)
  target_link_libraries(steps_test PRIVATE pfslab_sim)
  add_test(NAME sim.steps COMMAND steps_test)
  foreach(part matrix repeat large barriers idle claims scales wrong)
    add_test(NAME sim.run.${part} COMMAND
      /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_test.py $<TARGET_FILE:pfs-sim> ${part})
    list(APPEND run_tests sim.run.${part})
  endforeach()
  foreach(part exact finds repeat wrong)
    add_test(NAME sim.soak.${part} COMMAND
      /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/soak_test.py $<TARGET_FILE:pfs-sim>
      ${part})
    list(APPEND run_tests sim.soak.${part})
  endforeach()
  set_tests_properties(sim.counts sim.pass_counts sim.steps ${run_tests} PROPERTIES LABELS sim TIMEOUT 300)
endif()
