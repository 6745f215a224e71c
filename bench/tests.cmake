# Tests of bench/. None asserts on time: windows are tiny, what is checked is what comes out.
add_executable(bench_shim_test shim_test.c)
target_link_libraries(bench_shim_test PRIVATE pfs_bench_shim Threads::Threads)
set_target_properties(bench_shim_test PROPERTIES LINKER_LANGUAGE CXX)
add_test(NAME bench_shim
  COMMAND bench_shim_test ${CMAKE_CURRENT_BINARY_DIR}/shim_test.json)

add_executable(bench_histogram_test histogram_test.c histogram.c)
add_test(NAME bench_histogram COMMAND bench_histogram_test)

add_executable(bench_calls_test calls_test.c)
target_link_libraries(bench_calls_test PRIVATE pfs_bench_calls)
add_test(NAME bench_calls COMMAND bench_calls_test)

foreach(policy exact magazine malloc)
  foreach(workload pair churn)
    add_test(NAME bench_count_calls.${policy}.${workload}
      COMMAND pfs-count-calls ${policy} public ${workload} 20000)
    set_tests_properties(bench_count_calls.${policy}.${workload} PROPERTIES LABELS unit)
  endforeach()
endforeach()
add_test(NAME bench_count_calls.wrong COMMAND pfs-count-calls exact public pairs 7)
set_tests_properties(bench_count_calls.wrong PROPERTIES LABELS unit
  PASS_REGULAR_EXPRESSION "choose pair or churn")

add_executable(bench_trial_test trial_test.c)
target_link_libraries(bench_trial_test PRIVATE pfs_bench_trials)
add_test(NAME bench_trial COMMAND bench_trial_test)

add_executable(bench_scene_test scene_test.c)
target_link_libraries(bench_scene_test PRIVATE pfs_bench_scenes pfs_bench_trials)
add_test(NAME bench_scene
  COMMAND bench_scene_test ${CMAKE_CURRENT_BINARY_DIR}/scene_test.pfstrace)
set_tests_properties(bench_shim bench_histogram bench_calls bench_trial bench_scene
  PROPERTIES LABELS unit)

set(check /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/check_json.py $<TARGET_FILE:pfs-bench>)
set(visible_policies "")
foreach(policy ${PFS_POLICIES})
  pfs_policy_file(policy_file ${policy})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${policy_file} visible REGEX "PFS_TRAIT_C11")
  if(visible OR NOT PFS_SANITIZE MATCHES "thread")
    list(APPEND visible_policies ${policy}) # else ThreadSanitizer would misread it
  endif()
endforeach()
foreach(source ${workloads})
  string(REGEX REPLACE "^workload_(.*)\\.c$" "\\1" workload ${source})
  file(STRINGS ${source} has_policy REGEX "has_policy = true")
  foreach(policy ${visible_policies})
    # There a random start meets the full container of a trace for 20 s, by code that others run.
    if(PFS_SANITIZE AND workload STREQUAL "replay" AND policy STREQUAL "random_start")
      continue()
    endif()
    add_test(NAME bench_${workload}_${policy} COMMAND ${check} smoke ${workload} ${policy})
    set_tests_properties(bench_${workload}_${policy} PROPERTIES LABELS bench-smoke)
    if(NOT has_policy)
      break()
    endif()
  endforeach()
endforeach()
add_test(NAME bench_options COMMAND ${check} options)
add_test(NAME bench_replay COMMAND ${check} replay)
if(NOT PFS_SANITIZE) # which brings its own malloc
  add_test(NAME bench_peers COMMAND ${check} peers)
  set_tests_properties(bench_peers PROPERTIES LABELS bench-smoke SKIP_RETURN_CODE 77)
endif()
add_test(NAME bench_wrong_input COMMAND ${check} wrong)
add_test(NAME bench_full_disk COMMAND ${check} full)
set_tests_properties(bench_options bench_replay bench_wrong_input bench_full_disk
  PROPERTIES LABELS bench-smoke)
