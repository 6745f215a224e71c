# Of all programs: what they answer to wrong input; --help, man page and completion of those that
# are installed. They ask the build which programs it has.
add_test(NAME commands.wrong COMMAND /usr/bin/python3 -B
  ${CMAKE_CURRENT_SOURCE_DIR}/base/tests/wrong.py ${PROJECT_BINARY_DIR})
set_tests_properties(commands.wrong PROPERTIES LABELS unit TIMEOUT 120)
add_test(NAME commands.described COMMAND /usr/bin/python3 -B
  ${CMAKE_CURRENT_SOURCE_DIR}/base/tests/described.py ${PROJECT_BINARY_DIR})
set_tests_properties(commands.described PROPERTIES LABELS unit TIMEOUT 120)
