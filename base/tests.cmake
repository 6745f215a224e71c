# All programs: their answers to wrong input; --help, man page and completion of those that
# are installed. The tests ask the build which programs it has. The JSON writer alone.
add_test(NAME commands.wrong COMMAND /usr/bin/python3 -B
  ${CMAKE_CURRENT_SOURCE_DIR}/base/tests/wrong.py ${PROJECT_BINARY_DIR})
set_tests_properties(commands.wrong PROPERTIES LABELS unit TIMEOUT 120)
add_test(NAME commands.described COMMAND /usr/bin/python3 -B
  ${CMAKE_CURRENT_SOURCE_DIR}/base/tests/described.py ${PROJECT_BINARY_DIR})
set_tests_properties(commands.described PROPERTIES LABELS unit TIMEOUT 120)
add_executable(json_test ${CMAKE_CURRENT_SOURCE_DIR}/base/tests/json_test.c)
target_link_libraries(json_test PRIVATE pfscommand)
add_test(NAME base.json COMMAND json_test)
set_tests_properties(base.json PROPERTIES LABELS unit TIMEOUT 20)
