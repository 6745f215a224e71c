# pfs-calibrate measures the real machine for the simulated one: real atomics, no PFS_SIM.
add_executable(pfs-calibrate
  calibrate/calibrate.c calibrate/calibrate_core.c calibrate/calibrate_costs.c
  calibrate/calibrate_kernel.c calibrate/calibrate_pair.c calibrate/series.c timed/costs.c
  ${PROJECT_SOURCE_DIR}/bench/clock.c ${PROJECT_SOURCE_DIR}/bench/placement.c
  ${PROJECT_SOURCE_DIR}/bench/pool.c)
target_include_directories(pfs-calibrate PRIVATE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/bench
  ${PROJECT_SOURCE_DIR}/containers)
target_link_libraries(pfs-calibrate PRIVATE
  pfscommand pfslab::pfslab PkgConfig::HWLOC PkgConfig::JANSSON Threads::Threads m)

target_sources(pfs-sim PRIVATE command/calibrate_command.c)
add_dependencies(pfs-sim pfs-calibrate)

if(PFS_TESTS)
  add_test(NAME sim.calibrate COMMAND /usr/bin/python3
    ${CMAKE_CURRENT_SOURCE_DIR}/tests/calibrate_test.py $<TARGET_FILE:pfs-sim>)
  set_tests_properties(sim.calibrate PROPERTIES LABELS sim SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()
