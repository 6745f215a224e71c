# What is installed, and where: twice from one description. As the prefix asks, for cmake --install;
# and as Debian lays things out, for the packages, whatever the prefix of this build folder is.
include(CMakePackageConfigHelpers)
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
    DEPENDS ${pages} ${headers} README.md CONTRIBUTING.md CHANGELOG.md scripts/pages.py
      scripts/reporting/pages_headers.py)
  add_custom_target(site ALL DEPENDS ${PROJECT_BINARY_DIR}/site/style.css)
endif()

# Each program with the folder of its NAME.1 (man page) and NAME.bash (completion).
set(PFS_PROGRAMS
  pfs-mem:memory/tool pfs-bench:bench pfs-sim:sim pfs-stress:stress pfs-trace:recorder
  pfs-check:check)
# Libraries that are preloaded, or loaded by name: without a version, as nothing is linked with them.
set(PFS_PRELOADED pfsmem pfsmalloc pfs_mem_sqlite)

# PREFIX from inside of FOLDER, for files that are to be found wherever the prefix is moved.
function(pfs_up_from folder result)
  string(REGEX REPLACE "[^/]+" ".." up "${folder}")
  set(${result} "${up}" PARENT_SCOPE)
endfunction()

# pfs_install_library(LAYOUT LIBDIR [EXCLUDE_FROM_ALL]): what a program that is linked with the shared
# library needs, and no more; and for who builds such a program, headers and the archive.
function(pfs_install_library layout libdir)
  set(package_dir ${libdir}/cmake/pfslab)
  set(made ${PROJECT_BINARY_DIR}/install/${layout})
  install(TARGETS pfslab_shared EXPORT ${layout}Targets
    LIBRARY DESTINATION ${libdir} COMPONENT ${layout}-library ${ARGN}
      NAMELINK_COMPONENT ${layout}-development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

  install(TARGETS pfslab_static EXPORT ${layout}Targets
    ARCHIVE DESTINATION ${libdir} COMPONENT ${layout}-development ${ARGN}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY include/pfslab DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT ${layout}-development ${ARGN})
  install(EXPORT ${layout}Targets NAMESPACE pfslab:: FILE pfslabTargets.cmake
    DESTINATION ${package_dir} COMPONENT ${layout}-development ${ARGN})
  configure_package_config_file(cmake/pfslabConfig.cmake.in ${made}/pfslabConfig.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(${made}/pfslabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/pfslabConfig.cmake ${made}/pfslabConfigVersion.cmake
    cmake/pfslabCheck.cmake cmake/pfslabCheckRun.cmake
    DESTINATION ${package_dir} COMPONENT ${layout}-development ${ARGN})
  if(IS_ABSOLUTE "${libdir}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pc_libdir "${libdir}")
  else()
    pfs_up_from("${libdir}/pkgconfig" up)
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${libdir}")
  endif()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(cmake/pfslab.pc.in ${made}/pfslab.pc @ONLY)
  install(FILES ${made}/pfslab.pc DESTINATION ${libdir}/pkgconfig
    COMPONENT ${layout}-development ${ARGN})
endfunction()

# pfs_install(LAYOUT LIBDIR DOCDIR [EXCLUDE_FROM_ALL]): components LAYOUT-library, -development,
# -programs, -documentation.
function(pfs_install layout libdir docdir)
  set(package_dir ${libdir}/cmake/pfslab)
  set(made ${PROJECT_BINARY_DIR}/install/${layout})

  if(TARGET pfslab_shared)
    pfs_install_library(${layout} ${libdir} ${ARGN})
  endif()

  # A project that checks its own code, to copy.
  install(DIRECTORY check/example/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/examples/check
    COMPONENT ${layout}-development ${ARGN})

  # Of pfs-check --gdb.
  install(FILES check/gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab
    COMPONENT ${layout}-programs ${ARGN})

  # A sanitizer has no malloc of ours, and what is not built has no page.
  set(programs COMPONENT ${layout}-programs ${ARGN})
  foreach(entry ${PFS_PROGRAMS})
    string(REGEX MATCH "^([^:]+):(.+)$" entry ${entry})
    set(name ${CMAKE_MATCH_1})
    set(folder ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_2})
    if(TARGET ${name})
      install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ${programs})
      install(FILES ${folder}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${programs} OPTIONAL)
      install(FILES ${folder}/${name}.bash RENAME ${name} ${programs} OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    endif()
  endforeach()
  foreach(library ${PFS_PRELOADED})
    if(TARGET ${library})
      install(TARGETS ${library} LIBRARY DESTINATION ${libdir} ${programs})
    endif()
  endforeach()
  install(DIRECTORY results/traces/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pfslab/traces ${programs}
    FILES_MATCHING PATTERN "*.pfstrace")

  # The site, or what it is made of.
  if(TARGET site)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/site/ DESTINATION ${docdir}/html
      COMPONENT ${layout}-documentation ${ARGN})
  else()
    install(DIRECTORY docs DESTINATION ${docdir} COMPONENT ${layout}-documentation ${ARGN})
    install(FILES README.md CONTRIBUTING.md DESTINATION ${docdir}
      COMPONENT ${layout}-documentation ${ARGN})
  endif()
endfunction()

pfs_install(plain ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT plain-documentation)
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  include(cmake/package.cmake)
endif()
