# The libraries that others link, each in both kinds: libpfslab has the containers and the traces,
# libpfsaccounts the accounts. Its shared kind has containers of its own, hidden: those of libpfsmem.so,
# without hwloc. Whatever is hidden the tests reach, because they are linked with the archives pfslab
# and pfsmemory.
set(libraries "")
if(PFS_KIT)
  list(APPEND libraries pfslab)
  add_library(pfslab_static STATIC ${PFSLAB_OBJECTS})
  add_library(pfslab_shared SHARED ${PFSLAB_OBJECTS})
  target_link_libraries(pfslab_shared PRIVATE PkgConfig::HWLOC PkgConfig::CK Threads::Threads)
  set_target_properties(pfslab_shared PROPERTIES EXPORT_NAME pfslab)
endif()
if(PFS_MEMORY)
  list(APPEND libraries pfsaccounts)
  set(accounts $<TARGET_OBJECTS:pfsmemory_objects>)
  add_library(pfsaccounts_static STATIC ${PFSLAB_OBJECTS} ${accounts})
  add_library(pfsaccounts_shared SHARED containers/status.c ${accounts})
  pfs_show_only_public(pfsaccounts_shared)
  add_library(pfsaccounts_containers STATIC
    memory/preload/memory_plain.c memory/preload/policies.c
    $<FILTER:$<TARGET_OBJECTS:pfslab_core>,EXCLUDE,/memory\\.c\\.>
    $<FILTER:$<TARGET_OBJECTS:pfslab_variants>,INCLUDE,/exact/|/original\\.c>)
  target_include_directories(pfsaccounts_containers PRIVATE containers variants)
  target_link_options(pfsaccounts_containers INTERFACE
    LINKER:--exclude-libs,libpfsaccounts_containers.a)
  target_link_libraries(pfsaccounts_shared PRIVATE pfsaccounts_containers Threads::Threads)
  set_target_properties(pfsaccounts_static PROPERTIES EXPORT_NAME accounts_static)
  set_target_properties(pfsaccounts_shared PROPERTIES EXPORT_NAME accounts)
endif()
foreach(name ${libraries})
  set_target_properties(${name}_static ${name}_shared PROPERTIES OUTPUT_NAME ${name}
    LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  # Before 1.0 each minor version may change what a program sees; the CMake package says so, too.
  set_target_properties(${name}_shared PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  # The library's own calls are its own, whatever names a program has. libgcc_s is there only where
  # C++ is linked.
  target_link_options(${name}_shared PRIVATE LINKER:-Bsymbolic-functions)
  target_link_options(${name}_static INTERFACE LINKER:--exclude-libs,lib${name}.a)
  target_link_libraries(${name}_static INTERFACE Threads::Threads)
  if(NOT PFS_SANITIZE)
    target_link_options(${name}_shared PRIVATE LINKER:--no-undefined)
  endif()
endforeach()
