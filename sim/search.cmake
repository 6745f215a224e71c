# The searches that need more than one file, the checks on histories, and their tests.
target_sources(pfslab_sim PRIVATE case_history.c depends.c dpor.c dpor_parts.c dpor_views.c jobs.c
  jobs_worker.c news.c part.c progress.c reduce.c views_seq.c
  ${PROJECT_SOURCE_DIR}/stress/history.c)
target_sources(pfs-sim PRIVATE command_progress.c)

if(PFS_TESTS)
  add_executable(dpor_test dpor_test.c dpor_classes.c)
  target_link_libraries(dpor_test PRIVATE pfslab_sim)
  add_test(NAME sim.dpor COMMAND dpor_test)
  add_executable(search_test search_test.c)
  target_link_libraries(search_test PRIVATE pfslab_sim)
  add_test(NAME sim.search COMMAND search_test)
  add_executable(bound_test bound_test.c)
  target_link_libraries(bound_test PRIVATE pfslab_sim)
  add_test(NAME sim.bound COMMAND bound_test)
  add_executable(mcs_test mcs_test.c)
  target_link_libraries(mcs_test PRIVATE pfslab_sim)
  add_test(NAME sim.mcs COMMAND mcs_test)
  set_tests_properties(sim.mcs PROPERTIES LABELS sim TIMEOUT 300)
  add_executable(lost_barrier_test lost_barrier_test.c)
  target_link_libraries(lost_barrier_test PRIVATE pfslab_sim)
  add_test(NAME sim.lost_barrier COMMAND lost_barrier_test)
  set_tests_properties(sim.lost_barrier PROPERTIES
    LABELS sim TIMEOUT 300 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  add_executable(case_history_test case_history_test.c)
  target_link_libraries(case_history_test PRIVATE pfslab_sim)
  add_test(NAME sim.history COMMAND case_history_test)
  add_test(NAME sim.progress.sc COMMAND pfs-sim progress --executions 60)
  add_test(NAME sim.progress.tso COMMAND pfs-sim progress --memory tso --executions 30)
  set_tests_properties(sim.dpor sim.search sim.bound sim.history sim.progress.sc sim.progress.tso PROPERTIES
    LABELS sim TIMEOUT 300 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  foreach(part saved example wrong classes)
    add_test(NAME sim.schedules.${part} COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/schedules_test.py $<TARGET_FILE:pfs-sim> ${part})
    list(APPEND schedule_tests sim.schedules.${part})
  endforeach()
  foreach(part counts failure killed wrong)
    add_test(NAME sim.jobs.${part} COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/jobs_test.py $<TARGET_FILE:pfs-sim> ${part})
    list(APPEND schedule_tests sim.jobs.${part})
  endforeach()
  if(NOT PFS_SANITIZE)
    add_test(NAME sim.gdb COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/schedules_test.py $<TARGET_FILE:pfs-sim> gdb)
    set_tests_properties(sim.gdb PROPERTIES SKIP_RETURN_CODE 77 LABELS sim TIMEOUT 120)
  endif()
  set_tests_properties(${schedule_tests} PROPERTIES
    LABELS sim TIMEOUT 300 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()
