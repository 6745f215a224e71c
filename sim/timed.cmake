# The machine in virtual time: its tests, its benchmark, and real machines beside it.
target_sources(pfs-sim PRIVATE timed/timed_contend.c timed/timed_curves.c timed/timed_speed.c)

if(PFS_TESTS)
  add_executable(topology_test tests/topology_test.c)
  target_link_libraries(topology_test PRIVATE pfslab_sim)
  add_test(NAME sim.topology COMMAND topology_test)
  add_executable(timed_test tests/timed_test.c)
  target_link_libraries(timed_test PRIVATE pfslab_sim)
  add_test(NAME sim.timed COMMAND timed_test)
  add_executable(timed_curves_test tests/timed_curves_test.c timed/timed_contend.c
    timed/timed_curves.c)
  target_link_libraries(timed_curves_test PRIVATE pfslab_sim)
  add_test(NAME sim.timed.curves COMMAND timed_curves_test)
  # Three processes, three places in memory: the same times.
  add_test(NAME sim.timed.same COMMAND sh -c
    "a=$($1 --print) && b=$($1 --print) && c=$(X=longer $1 --print) && test -n \"$a\" && \
     test \"$a\" = \"$b\" && test \"$a\" = \"$c\"" sh $<TARGET_FILE:timed_test>)
  set_tests_properties(sim.topology sim.timed sim.timed.curves sim.timed.same PROPERTIES LABELS sim
    TIMEOUT 300)
endif()
