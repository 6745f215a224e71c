# Searches of the kit's scenarios, and their tests.
if(PFS_TESTS)
  # What is searched does not depend on the build. A sanitizer's makes it ten times as long, and
  # searches less of it: all of the code, some of the schedules.
  add_executable(rewind_test tests/rewind_test.c ${PROJECT_SOURCE_DIR}/check/tests/program.c)
  target_link_libraries(rewind_test PRIVATE pfslab_sim)
  add_test(NAME sim.rewind COMMAND rewind_test)
  set_tests_properties(sim.rewind PROPERTIES LABELS sim TIMEOUT 300
    ENVIRONMENT ASAN_OPTIONS=detect_leaks=0) # one case fails
  add_executable(lost_barrier_test tests/lost_barrier_test.c)
  target_link_libraries(lost_barrier_test PRIVATE pfslab_sim)
  if(PFS_SANITIZE)
    target_compile_definitions(lost_barrier_test PRIVATE SEARCH_PART=10u)
  endif()
  add_test(NAME sim.lost_barrier COMMAND lost_barrier_test)
  set_tests_properties(sim.lost_barrier PROPERTIES
    LABELS sim TIMEOUT 300 COST 11 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  add_executable(case_history_test tests/case_history_test.c)
  target_link_libraries(case_history_test PRIVATE pfslab_sim)
  add_test(NAME sim.history COMMAND case_history_test)
  # Every policy that claims progress, every scenario, each thread parked after each number of its
  # steps: all of these stops, and at each the first schedules of the others in the order of the
  # search, so many as end in about 20 s. With sc that is all there are of a fifth of the cases.
  # A sanitizer's build parks those of one policy. More, after a change of who waits for whom:
  # `pfs-sim progress --executions 200`, with `--memory tso`, with `--fill`: some minutes each.
  if(PFS_SANITIZE)
    set(progress_sc 2 --policy exact)
    set(progress_tso 2 --policy exact)
    set(fill_sc 1 --policy exact)
    set(fill_tso 1 --policy exact)
  else()
    set(progress_sc 16)
    set(progress_tso 9)
    set(fill_sc 10)
    set(fill_tso 6)
  endif()
  add_test(NAME sim.progress.sc COMMAND pfs-sim progress --executions ${progress_sc})
  add_test(NAME sim.progress.tso COMMAND pfs-sim progress --memory tso --executions ${progress_tso})
  add_test(NAME sim.progress.fill.sc COMMAND pfs-sim progress --fill --executions ${fill_sc})
  add_test(NAME sim.progress.fill.tso
    COMMAND pfs-sim progress --fill --memory tso --executions ${fill_tso})
  set_tests_properties(sim.history sim.progress.sc sim.progress.tso
    sim.progress.fill.sc sim.progress.fill.tso PROPERTIES
    LABELS sim TIMEOUT 300 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  set_tests_properties(sim.progress.sc sim.progress.tso sim.progress.fill.sc
    sim.progress.fill.tso PROPERTIES COST 20)
  # Threads that loop for ever: all states, where they are few; else histories at random.
  if(NOT PFS_SANITIZE)
    foreach(memory sc tso)
      add_test(NAME sim.loops.fixpoint.${memory} COMMAND pfs-sim explore --policy magazine
        --scenario loop_depot --search fixpoint --memory ${memory} --no-races --seconds 100)
      set_tests_properties(sim.loops.fixpoint.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION ", all states: no violation")
    endforeach()
    add_test(NAME sim.loops.ring COMMAND pfs-sim explore --policy magazine --scenario loop_ring
      --layout bare --preemptions 0 --search fixpoint --no-races --seconds 280)
    set_tests_properties(sim.loops.ring PROPERTIES LABELS sim TIMEOUT 300
      PASS_REGULAR_EXPRESSION ", all states of up to 0 preemptions between two rests: no violation")
    add_test(NAME sim.loops.one COMMAND pfs-sim explore --policy exact --scenario loop_one
      --search fixpoint --no-races --seconds 280)
    set_tests_properties(sim.loops.one PROPERTIES LABELS sim TIMEOUT 300 COST 20
      PASS_REGULAR_EXPRESSION ", all states: no violation")
    foreach(memory sc tso views)
      foreach(scenario rings words trees pages)
        set(policy exact)
        set(loop_threads 2)
        if(scenario STREQUAL rings)
          set(policy magazine)
        elseif(scenario STREQUAL pages)
          set(loop_threads 3)
        endif()
        add_test(NAME sim.loops.${scenario}.${memory} COMMAND pfs-sim explore --policy ${policy}
          --scenario loop_${scenario} --threads ${loop_threads} --search rotate --memory ${memory}
          --executions 60 --quiet)
        set_tests_properties(sim.loops.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
          PASS_REGULAR_EXPRESSION "no violation")
      endforeach()
    endforeach()
  endif()
  # All programs of a few gives and takes; those of three threads that make two each take minutes.
  if(NOT PFS_SANITIZE)
    set(calls /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/calls.py $<TARGET_FILE:pfs-sim>)
    foreach(memory sc tso)
      add_test(NAME sim.calls.${memory} COMMAND ${calls} --memory ${memory}
        --shape one,word,page,pages --seconds 100)
      add_test(NAME sim.calls.three.${memory} COMMAND ${calls} --memory ${memory} --threads 3
        --operations 1 --shape one,word,page --seconds 100)
      set_tests_properties(sim.calls.${memory} sim.calls.three.${memory} PROPERTIES LABELS sim
        TIMEOUT 300)
    endforeach()
    add_test(NAME sim.calls.bare COMMAND ${calls} --operations 3 --bare --seconds 200)
    add_test(NAME sim.calls.classes COMMAND ${calls} --search exhaustive --memory sc --seconds 100)
    set_tests_properties(sim.calls.bare sim.calls.classes PROPERTIES LABELS sim TIMEOUT 300)
  endif()
  # The protocol of the trees, every class of schedules: small, and it must stay so that they end.
  foreach(scenario word levels siblings leaves)
    foreach(memory sc tso views)
      if(NOT PFS_SANITIZE OR (scenario STREQUAL word AND NOT memory STREQUAL views))
        add_test(NAME sim.trees.${scenario}.${memory} COMMAND pfs-sim explore --policy exact
          --scenario ${scenario} --memory ${memory} --seconds 100 --quiet)
        set_tests_properties(sim.trees.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
          ENVIRONMENT ASAN_OPTIONS=detect_leaks=0
          PASS_REGULAR_EXPRESSION ", all there are: no violation")
      endif()
    endforeach()
  endforeach()
  set(schedule_parts saved example wrong)
  set(jobs_parts failure killed wrong)
  if(NOT PFS_SANITIZE)
    list(APPEND schedule_parts classes)
    list(APPEND jobs_parts counts)
  endif()
  foreach(part ${schedule_parts})
    add_test(NAME sim.schedules.${part} COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/tests/schedules_test.py $<TARGET_FILE:pfs-sim> ${part})
    list(APPEND schedule_tests sim.schedules.${part})
  endforeach()
  foreach(part ${jobs_parts})
    add_test(NAME sim.jobs.${part} COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/tests/jobs_test.py $<TARGET_FILE:pfs-sim> ${part})
    list(APPEND schedule_tests sim.jobs.${part})
  endforeach()
  if(NOT PFS_SANITIZE)
    add_test(NAME sim.gdb COMMAND /usr/bin/python3
      ${CMAKE_CURRENT_SOURCE_DIR}/tests/schedules_test.py $<TARGET_FILE:pfs-sim> gdb)
    set_tests_properties(sim.gdb PROPERTIES SKIP_RETURN_CODE 77 LABELS sim TIMEOUT 120)
  endif()
  set_tests_properties(${schedule_tests} PROPERTIES
    LABELS sim TIMEOUT 300 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  if(NOT PFS_SANITIZE)
    set_tests_properties(sim.schedules.classes sim.jobs.counts PROPERTIES COST 20)
  endif()
endif()
