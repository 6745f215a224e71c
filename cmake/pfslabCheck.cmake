# pfs_check_add(NAME SOURCE... [SCENARIO NAME] [MEMORY sc|tso|views] [SEARCH KIND] [COMPLETE]
#               [EXPECT_FAILURE] [FINDS TEXT] [OPTIONS OPTION...] [TIMEOUT SECONDS]
#               [COMPILE_DEFINITIONS ...] [COMPILE_OPTIONS ...] [INCLUDE_DIRECTORIES ...]
#               [LINK_LIBRARIES ...])
#
# The target NAME is the sources as pfs-check loads them: compiled with -fsanitize=thread, linked
# without it. The test NAME has pfs-check search it. It passes when no schedule failed; with COMPLETE
# only if these were all executions; with EXPECT_FAILURE if one failed, and was shown; with FINDS
# only one of whose words are TEXT. OPTIONS are further ones of pfs-check's own.
function(pfs_check_add name)
  cmake_parse_arguments(PARSE_ARGV 1 check "COMPLETE;EXPECT_FAILURE"
    "SCENARIO;MEMORY;SEARCH;FINDS;TIMEOUT"
    "OPTIONS;COMPILE_DEFINITIONS;COMPILE_OPTIONS;INCLUDE_DIRECTORIES;LINK_LIBRARIES")
  if(NOT check_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pfs_check_add(${name}): name its sources, as in "
      "pfs_check_add(${name} ${name}.c)")
  endif()
  if(check_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "pfs_check_add(${name}): nothing behind ${check_KEYWORDS_MISSING_VALUES}")
  endif()
  if(check_COMPLETE AND (check_EXPECT_FAILURE OR DEFINED check_FINDS))
    message(FATAL_ERROR "pfs_check_add(${name}): COMPLETE and a failure exclude each other")
  endif()
  if(NOT DEFINED PFSLAB_CHECK_PROGRAM)
    message(FATAL_ERROR "pfs_check_add(${name}): call find_package(pfslab) in this folder, or above")
  endif()
  if(NOT EXISTS "${PFSLAB_CHECK_PROGRAM}")
    message(FATAL_ERROR "${PFSLAB_CHECK_MISSING}")
  endif()

  # MODULE: nothing is linked with it, and what it calls is pfs-check's, so that it stays undefined
  # even where a project forbids that.
  add_library(${name} MODULE ${check_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so"
    INTERPROCEDURAL_OPTIMIZATION OFF UNITY_BUILD OFF)
  target_include_directories(${name} PRIVATE ${check_INCLUDE_DIRECTORIES})
  target_include_directories(${name} SYSTEM PRIVATE "${PFSLAB_CHECK_INCLUDE}")
  target_compile_definitions(${name} PRIVATE ${check_COMPILE_DEFINITIONS})
  # Whatever the project's own flags are: no other sanitizer, no code that is made when linking. And
  # assert() stands in Release, too: it is what is checked.
  target_compile_options(${name} PRIVATE -g -O1 -UNDEBUG -fno-lto -fno-sanitize=all
    -fsanitize=thread
    $<$<C_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:C>:-Wno-tsan>>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>>
    ${check_COMPILE_OPTIONS})
  # A library's place, not an option's: behind all flags of the project.
  target_link_libraries(${name} PRIVATE ${check_LINK_LIBRARIES}
    -fno-sanitize=all -Wl,-z,undefs)

  set(options "")
  foreach(option SCENARIO MEMORY SEARCH)
    if(DEFINED check_${option})
      string(TOLOWER ${option} word)
      list(APPEND options --${word}=${check_${option}})
    endif()
  endforeach()
  list(APPEND options ${check_OPTIONS})
  if(check_EXPECT_FAILURE OR DEFINED check_FINDS)
    set(script -D FAILS=ON -D "FINDS=${check_FINDS}")
  elseif(check_COMPLETE)
    set(script -D COMPLETE=ON)
  endif()
  if(script)
    list(PREPEND script ${CMAKE_COMMAND})
    list(APPEND script -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/pfslabCheckRun.cmake" --)
  endif()
  add_test(NAME ${name}
    COMMAND ${script} ${PFSLAB_CHECK_PROGRAM} $<TARGET_FILE:${name}> ${options})
  if(DEFINED check_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${check_TIMEOUT})
  endif()
endfunction()
