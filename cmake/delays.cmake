# PFS_DELAYS: every access of containers/atomic.h may wait, see containers/delays.h. Each library and
# program that has such an access gets the few functions behind it: an archive that is linked last.
if(NOT PFS_DELAYS)
  return()
endif()
add_library(pfsdelays STATIC ${PROJECT_SOURCE_DIR}/containers/delays.c)
target_compile_options(pfsdelays PRIVATE -fvisibility=hidden)
# PFS_NO_INLINE: a program's calls are those of the library, whose accesses go through atomic.h.
add_compile_definitions(PFS_DELAYS PFS_NO_INLINE)
link_libraries($<BUILD_INTERFACE:pfsdelays>)
