# Debian packages of this build folder, by CPack: cmake --build FOLDER --target package, or cpack.
# One for each product that is built, of its component (cmake/install.cmake), and with all three one
# of the documentation.
find_program(PFS_DPKG dpkg-shlibdeps)
if(NOT PFS_DPKG OR NOT PFS_PACKAGES OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  return()
endif()
set(PFS_MAINTAINER "The pfslab authors <pfslab@example.org>" CACHE STRING
  "who answers for the packages: name <address>")
if(PFS_KIT AND PFS_CHECK AND PFS_MEMORY)
  list(APPEND PFS_PACKAGES pfslab-doc)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${PFS_PACKAGES})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/finish.cmake)
set(CPACK_PACKAGE_CONTACT "${PFS_MAINTAINER}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # of what has a version
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(pfslab-kit_text "Paged containers of fixed-size records, as a database's instrumentation keeps
its threads, locks and accounts, with interchangeable policies of allocation:
the library with its headers. pfs-bench and pfs-stress measure and test them,
pfs-sim tries them on a simulated machine, pfs-trace looks at recorded lives
of objects.")
set(CPACK_DEBIAN_PFSLAB-KIT_PACKAGE_SUGGESTS "libhwloc-dev, pfslab-doc")
set(pfs-check_text "pfs-check runs C and C++ programs under every schedule that makes a
difference, with the memory model of C11, of x86, or sequential consistency,
and shows a schedule that fails. Its header and its commands for CMake are
here, too.")
set(CPACK_DEBIAN_PFS-CHECK_PACKAGE_RECOMMENDS "g++ | clang, binutils")
set(CPACK_DEBIAN_PFS-CHECK_PACKAGE_SUGGESTS "cmake, gdb, pfslab-doc")
set(pfs-mem_text "libpfsmalloc.so is malloc for any program. libpfsmem.so with pfs-mem tells who
holds the memory of a program, living or dead, without changing it. A program
that keeps accounts by itself is linked with libpfsaccounts.")
set(CPACK_DEBIAN_PFS-MEM_PACKAGE_SUGGESTS "libhwloc-dev, pfslab-doc")
set(pfslab-doc_summary "documentation of pfslab, pfs-check and pfs-mem")
set(pfslab-doc_text "The chapters on containers, checker, allocator, accounts and the simulated
machine, and the manual of the public headers, as plain pages.")
set(CPACK_DEBIAN_PFSLAB-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_PFSLAB-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # the project's would be each package's first line
foreach(package ${PFS_PACKAGES})
  string(TOUPPER ${package} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${${package}_summary}
${${package}_text}")
endforeach()
foreach(package PFSLAB-KIT PFS-MEM)
  set(CPACK_DEBIAN_${package}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
endforeach()
include(CPack)
