# The README's example, built against an installed pfslab. Sanitizer and counting builds need
# flags that the README does not show.
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  add_test(NAME readme_example
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/readme_example.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(readme_example PROPERTIES LABELS unit TIMEOUT 120)
endif()

# A user's program under ThreadSanitizer, with the library as it is installed: without.
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  add_test(NAME unit.tsan_user COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/tsan_user.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(unit.tsan_user PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# The policy of docs/how-to/adding-a-policy.md, in a copy of the sources: every part of the kit must find
# it by its one line in variants.def.
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  add_test(NAME example_policy COMMAND /usr/bin/python3
    ${CMAKE_CURRENT_SOURCE_DIR}/example_policy.py ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER}
    ${CMAKE_CXX_COMPILER})
  set_tests_properties(example_policy PROPERTIES LABELS example TIMEOUT 1200 PROCESSORS 2)
endif()
