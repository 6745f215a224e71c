# The README's example, built against an installed pfslab. Sanitizer and counting builds need
# flags that the README does not show.
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING AND NOT PFS_EPOCH_CK)
  add_test(NAME readme_example
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/readme_example.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(readme_example PROPERTIES LABELS unit TIMEOUT 120)
endif()
