# The searches that need more than one file, the checks on histories, and their tests.
target_sources(pfslab_sim PRIVATE case_history.c dpor.c ${PROJECT_SOURCE_DIR}/stress/history.c)

if(PFS_TESTS)
  add_executable(dpor_test dpor_test.c)
  target_link_libraries(dpor_test PRIVATE pfslab_sim)
  add_test(NAME sim.dpor COMMAND dpor_test)
  set_tests_properties(sim.dpor PROPERTIES LABELS sim TIMEOUT 300)
endif()
