# What is installed, and where: a component for each product that is built, with its own headers and
# its own files for find_package and pkg-config; and one for the documentation.
include(CMakePackageConfigHelpers)
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE) # below any prefix, not only /usr
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE STRING "where libraries go")
endif()
include(GNUInstallDirs)

# The documentation as pages, where cmark-gfm is installed; else it is installed as it is written.
find_program(PFS_CMARK cmark-gfm)
find_program(PFS_PYTHON NAMES python3 PATHS /usr/bin)
if(PFS_CMARK AND PFS_PYTHON)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*/README.md
    ${PROJECT_SOURCE_DIR}/*/*/README.md ${PROJECT_SOURCE_DIR}/docs/*/*.md
    ${PROJECT_SOURCE_DIR}/docs/*.svg)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pfslab/*.h)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/site/style.css
    COMMAND ${PFS_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/pages.py ${PROJECT_BINARY_DIR}/site
    DEPENDS ${pages} ${headers} README.md CONTRIBUTING.md CHANGELOG.md scripts/pages.py)
  add_custom_target(site ALL DEPENDS ${PROJECT_BINARY_DIR}/site/style.css)
endif()

# pfs_install(COMPONENT NAME SUMMARY [LIBRARY NAME TARGET] [HEADERS NAME...]
#             [PROGRAMS NAME:FOLDER...] [UNSTRIPPED] [PRELOADED TARGET...])
#
# NAME is what find_package and pkg-config know it by, pfslab::TARGET the library in the former. The
# folder of a program has its NAME.1 (man page) and NAME.bash (completion). UNSTRIPPED: programs keep
# their debugging information, even where others are stripped. What is preloaded, or loaded by name,
# has no version in its name, as nothing is linked with it. What this build lacks is left out: a
# sanitizer has no malloc of ours.
function(pfs_install component name summary)
  cmake_parse_arguments(PARSE_ARGV 3 has "UNSTRIPPED" "" "LIBRARY;HEADERS;PROGRAMS;PRELOADED")
  set(PFS_PACKAGES ${PFS_PACKAGES} ${component} PARENT_SCOPE)
  set(${component}_summary ${summary} PARENT_SCOPE)
  set(made ${PROJECT_BINARY_DIR}/install/${name})
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  foreach(entry ${has_PROGRAMS})
    string(REGEX MATCH "^([^:]+):(.+)$" entry ${entry})
    set(program ${CMAKE_MATCH_1})
    set(folder ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_2})
    if(TARGET ${program})
      if(has_UNSTRIPPED)
        install(PROGRAMS $<TARGET_FILE:${program}> TYPE BIN COMPONENT ${component})
      else()
        install(TARGETS ${program} COMPONENT ${component})
      endif()
      install(FILES ${folder}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT ${component})
      install(FILES ${folder}/${program}.bash RENAME ${program} COMPONENT ${component}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    endif()
  endforeach()
  foreach(library ${has_PRELOADED})
    if(TARGET ${library})
      install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT ${component})
    endif()
  endforeach()
  list(TRANSFORM has_HEADERS PREPEND include/pfslab/)
  list(TRANSFORM has_HEADERS APPEND .h)
  install(FILES ${has_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pfslab
    COMPONENT ${component})

  set(template ${name}Config.cmake.in)
  set(pc_libs "")
  set(pc_private "")
  if(has_LIBRARY)
    list(POP_FRONT has_LIBRARY output target)
    set(template libraryConfig.cmake.in)
    set(pc_libs "-L\${libdir} -l${output}")
    set(pc_private "-lhwloc -pthread")
    install(TARGETS ${output}_shared ${output}_static EXPORT ${name}Targets COMPONENT ${component}
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT ${name}Targets NAMESPACE pfslab:: DESTINATION ${package_dir}
      COMPONENT ${component})
  endif()
  configure_package_config_file(cmake/${template} ${made}/${name}Config.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(${made}/${name}ConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/${name}Config.cmake ${made}/${name}ConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT ${component})

  # Found wherever the prefix is moved, unless it is given as absolute.
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
  if(NOT IS_ABSOLUTE "${pc_libdir}")
    string(REGEX REPLACE "[^/]+" ".." up "${pc_libdir}/pkgconfig")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${pc_libdir}")
  endif()
  if(NOT IS_ABSOLUTE "${pc_includedir}")
    set(pc_includedir "\${prefix}/${pc_includedir}")
  endif()
  configure_file(cmake/product.pc.in ${made}/${name}.pc @ONLY)
  install(FILES ${made}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${component})
endfunction()

if(PFS_KIT)
  pfs_install(pfslab-kit pfslab "lock-free containers of fixed-size records" LIBRARY pfslab pfslab
    HEADERS calls config container counts partitioned status trace variant
    PROGRAMS pfs-bench:bench pfs-sim:sim pfs-stress:stress pfs-trace:recorder)
  install(DIRECTORY results/traces/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/traces
    COMPONENT pfslab-kit FILES_MATCHING PATTERN "*.pfstrace")
endif()
if(TARGET pfs-check)
  pfs_install(pfs-check pfs-check "checker of lock-free code" HEADERS check check_copies
    PROGRAMS pfs-check:check UNSTRIPPED) # for gdb.py
  install(FILES cmake/pfs-checkRun.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pfs-check
    COMPONENT pfs-check)
  install(FILES check/gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab COMPONENT pfs-check)
  # A project that checks its own code, to copy.
  install(DIRECTORY check/example/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/examples/check
    COMPONENT pfs-check)
endif()
if(PFS_MEMORY)
  pfs_install(pfs-mem pfs-mem "allocator, memory accounts and heap profiles" LIBRARY pfsaccounts accounts
    HEADERS jemalloc malloc memory_trace memory_walk
    PROGRAMS pfs-mem:memory/tool PRELOADED pfsmem pfsmalloc pfs_mem_sqlite)
  install(FILES memory/tool/service.conf RENAME pfs-mem.conf COMPONENT pfs-mem
    DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/examples/systemd)
  install(DIRECTORY memory/tool/rules/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/rules
    COMPONENT pfs-mem FILES_MATCHING PATTERN "*.rules")
  # status.h is the kit's: memory.h has it in place of the line that includes it.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/pfslab/memory.h
    include/pfslab/status.h)
  file(READ include/pfslab/status.h status)
  file(READ include/pfslab/memory.h memory)
  string(REPLACE "#include <pfslab/status.h>\n" "${status}" memory "${memory}")
  file(WRITE ${PROJECT_BINARY_DIR}/install/memory.h "${memory}")
  install(FILES ${PROJECT_BINARY_DIR}/install/memory.h COMPONENT pfs-mem
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pfslab)
endif()

# The site, or what it is made of.
if(TARGET site)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html
    COMPONENT pfslab-doc)
else()
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pfslab-doc)
  install(FILES README.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pfslab-doc)
endif()
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  include(cmake/package.cmake)
endif()
