# pfs_show_only_public(TARGET...): of the functions of a library's sources only those are visible
# that the public headers declare; containers/public.h says how.
function(pfs_show_only_public)
  foreach(target ${ARGN})
    # public.h comes before a file's own first line, which may be this definition.
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)
    target_compile_options(${target} PRIVATE -fvisibility=hidden
      "SHELL:-include ${PROJECT_SOURCE_DIR}/containers/public.h")
  endforeach()
endfunction()
