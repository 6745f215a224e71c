# The library for others: headers, the archive, find_package(pfslab) and pkg-config pfslab.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)


set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pfslab)
configure_package_config_file(cmake/pfslabConfig.cmake.in pfslabConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(pfslabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/pfslab.pc.in pfslab.pc @ONLY)

install(DIRECTORY include/pfslab TYPE INCLUDE)
install(TARGETS pfslab pfsmemory EXPORT pfslabTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT pfslabTargets NAMESPACE pfslab:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pfslabConfig.cmake
  ${PROJECT_BINARY_DIR}/pfslabConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/pfslab.pc DESTINATION lib/pkgconfig)

# pfs-mem, and what it looks for in ../lib beside it. A sanitizer has no malloc of ours.
install(TARGETS pfs-mem RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT pfs-mem)
foreach(library pfsmem pfs_mem_sqlite)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT pfs-mem)
  endif()
endforeach()
install(FILES memory/tool/pfs-mem.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT pfs-mem)
install(FILES memory/tool/pfs-mem.bash RENAME pfs-mem COMPONENT pfs-mem
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
