# Debian packages of this build folder, by CPack: cmake --build FOLDER --target package, or cpack.
# Four, as Debian has them, because they are needed by different people: a program that is linked
# with the library must not bring a benchmark's dependencies with it, nor headers.
find_program(PFS_DPKG dpkg-shlibdeps)
if(NOT PFS_DPKG OR NOT CMAKE_LIBRARY_ARCHITECTURE)
  return()
endif()
set(PFS_MAINTAINER "The pfslab authors <pfslab@example.org>" CACHE STRING
  "who answers for the packages: name <address>")
set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(names library:libpfslab${soname} development:libpfslab-dev programs:pfslab
  documentation:pfslab-doc)

pfs_install(debian lib/${CMAKE_LIBRARY_ARCHITECTURE} share/doc/pfslab-doc EXCLUDE_FROM_ALL)

# The archive comes without debugging information, as programs do; pages are compressed.
set(root "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}")
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --enable-deterministic-archives
    \"${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libpfslab.a\" COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT debian-development EXCLUDE_FROM_ALL)
install(CODE "file(GLOB pages \"${root}/share/man/man1/*.1\")
  execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT debian-programs EXCLUDE_FROM_ALL)

# What each package must have: licence and the packages' own changes.
set(papers ${PROJECT_BINARY_DIR}/install/papers)
configure_file(cmake/debian/copyright ${papers}/copyright COPYONLY)
configure_file(cmake/debian/changelog ${papers}/changelog COPYONLY)
execute_process(COMMAND gzip -9nf ${papers}/changelog)
foreach(entry ${names})
  string(REPLACE ":" ";" entry ${entry})
  list(GET entry 0 part)
  list(GET entry 1 package)
  install(FILES ${papers}/copyright DESTINATION share/doc/${package} COMPONENT debian-${part}
    EXCLUDE_FROM_ALL)
  install(FILES ${papers}/changelog.gz DESTINATION share/doc/${package} RENAME changelog.Debian.gz
    COMPONENT debian-${part} EXCLUDE_FROM_ALL)
  file(GLOB overrides ${PROJECT_SOURCE_DIR}/cmake/debian/${part}.overrides)
  if(overrides)
    install(FILES ${overrides} DESTINATION share/lintian/overrides RENAME ${package}
      COMPONENT debian-${part} EXCLUDE_FROM_ALL)
  endif()
  string(TOUPPER debian-${part} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  list(APPEND CPACK_COMPONENTS_ALL debian-${part})
endforeach()
foreach(part LIBRARY PROGRAMS)
  set(CPACK_DEBIAN_DEBIAN-${part}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "${PFS_MAINTAINER}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # of what has a version, the library alone
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_DEBIAN_DEBIAN-LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEBIAN-LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEBIAN-LIBRARY_DESCRIPTION "lock-free containers of fixed-size records
 Paged containers of fixed-size records, as a database's instrumentation keeps
 its threads, locks and accounts, with interchangeable policies of allocation;
 and exact accounts of memory in a file that outlives the program.")

set(CPACK_DEBIAN_DEBIAN-DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEBIAN-DEVELOPMENT_PACKAGE_DEPENDS
  "libpfslab${soname} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libhwloc-dev")
set(CPACK_DEBIAN_DEBIAN-DEVELOPMENT_PACKAGE_SUGGESTS "pfslab, pfslab-doc")
set(CPACK_DEBIAN_DEBIAN-DEVELOPMENT_DESCRIPTION "lock-free containers of fixed-size records (headers)
 What is needed to build with pfslab: headers, the archive, and what CMake's
 find_package and pkg-config read.")

set(CPACK_DEBIAN_DEBIAN-PROGRAMS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEBIAN-PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEBIAN-PROGRAMS_PACKAGE_SUGGESTS "libpfslab-dev, pfslab-doc")
set(CPACK_DEBIAN_DEBIAN-PROGRAMS_DESCRIPTION "allocator, memory accounts and benchmarks of pfslab
 libpfsmalloc.so is malloc for any program. libpfsmem.so with pfs-mem tells who
 holds the memory of a program, living or dead, without changing it. pfs-bench
 and pfs-stress measure and test the containers, pfs-sim tries them on a
 simulated machine, pfs-check does so with any C or C++ program (headers in
 libpfslab-dev), pfs-trace looks at recorded lives of objects.")

set(CPACK_DEBIAN_DEBIAN-DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DEBIAN-DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEBIAN-DOCUMENTATION_DESCRIPTION "documentation of pfslab
 The chapters on containers, allocator, accounts and the simulated machine, and
 the manual of the public headers, as plain pages.")
include(CPack)
