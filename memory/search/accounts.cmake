# The accounts, compiled for the simulated machine: how blocks are credited (docs/explanation/search-results.md).
foreach(name accounts/cells accounts/count accounts/desk accounts/instruments accounts/limits
    accounts/marks accounts/marks_sum accounts/parties accounts/rules books/life)
  list(APPEND accounts_sources ${PROJECT_SOURCE_DIR}/memory/${name}.c)
endforeach()
list(APPEND accounts_sources ${PROJECT_SOURCE_DIR}/memory/box/reader_cells.c)
set_source_files_properties(${accounts_sources} PROPERTIES COMPILE_OPTIONS
  "-D_GNU_SOURCE=;-include;${CMAKE_CURRENT_SOURCE_DIR}/accounts_names.h")
# A copy that nobody else has yet is written without atomics.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/memory/accounts/cells.c APPEND PROPERTY
  COMPILE_OPTIONS -Dpfs_marks_begin=pfs_accounts_marks_begin)
set(accounts_own accounts_calls.c accounts_read.c
  accounts_reader.c accounts_shelves.c)
add_executable(accounts_search accounts_search.c accounts_check.c accounts_made.c
  accounts_world.c
  scene_command.c
  ${accounts_own} ${accounts_sources})
target_link_libraries(accounts_search PRIVATE pfslab_sim)
if(NOT PFS_SANITIZE)
  set_property(SOURCE ${accounts_sources} ${accounts_own} APPEND PROPERTY
    COMPILE_OPTIONS -fsanitize=thread)
endif()

# Every class of schedules of every scenario, with all three memories; each a few seconds. The box's
# reader loads all of a cell, some forty words: of it so many as end in seconds.
if(PFS_TESTS)
  set(scenarios retire retire2 last last3 waiting handed nobody again again1 scarce reused taken
    lives resize claim claims reads reads_new reads_end reads_ends reads_short reads_fold
    reads_still reads_again box box_new box_short box_fold box_again marks truncate truncates ticks
    disabled opened enabled limit limit_room limit_handed limit_ended limit_ends limit_resize
    limit_resized)
  foreach(scenario ${scenarios})
    foreach(memory sc tso views)
      set(search "")
      set(expected ", all there are: no violation")
      if(PFS_SANITIZE)
        set(search --executions 100)
        set(expected ": no violation")
      elseif(scenario MATCHES "^box" AND memory STREQUAL sc)
        set(search --search bounded --preemptions 1)
        set(expected ", every schedule of up to 1 preemptions: no violation")
      elseif(scenario MATCHES "^box")
        set(search --search rotate --executions 5000)
        set(expected ": no violation")
      endif()
      add_test(NAME sim.accounts.${scenario}.${memory} COMMAND accounts_search explore --quiet
        --scenario ${scenario} --memory ${memory} ${search})
      set_tests_properties(sim.accounts.${scenario}.${memory} PROPERTIES LABELS sim TIMEOUT 300
        PASS_REGULAR_EXPRESSION "${expected}")
    endforeach()
  endforeach()
endif()
