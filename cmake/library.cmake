# The library that others link, in both kinds: containers, traces, and the accounts if they are
# built. Whatever is hidden in it the tests reach, because they are linked with the archives pfslab
# and pfsmemory.
set(everything ${PFSLAB_OBJECTS})
if(PFS_MEMORY)
  list(APPEND everything $<TARGET_OBJECTS:pfsmemory_objects>)
endif()
add_library(pfslab_static STATIC ${everything})
add_library(pfslab_shared SHARED ${everything})
set_target_properties(pfslab_static pfslab_shared PROPERTIES OUTPUT_NAME pfslab
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
# Before 1.0 each minor version may change what a program sees; the CMake package says so, too.
set_target_properties(pfslab_shared PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME pfslab)
# The library's own calls are its own, whatever names a program has. libgcc_s is there only where
# C++ is linked.
target_link_options(pfslab_shared PRIVATE LINKER:-Bsymbolic-functions)
target_link_options(pfslab_static INTERFACE LINKER:--exclude-libs,libpfslab.a)
target_link_libraries(pfslab_shared PRIVATE PkgConfig::HWLOC PkgConfig::CK Threads::Threads)
target_link_libraries(pfslab_static INTERFACE Threads::Threads)
foreach(kind static shared)
  set_target_properties(pfslab_${kind} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(pfslab_${kind} INTERFACE $<INSTALL_INTERFACE:include>)
endforeach()
if(NOT PFS_SANITIZE)
  target_link_options(pfslab_shared PRIVATE LINKER:--no-undefined)
endif()
