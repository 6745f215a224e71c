# What Debian asks of every package, done by CPack to what it has installed: licence and changes,
# man pages compressed, archives without debugging information.
unset(ENV{DESTDIR}) # that of the last component
foreach(package ${CPACK_COMPONENTS_ALL})
  set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}/usr)
  set(doc ${usr}/share/doc/${package})
  file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc})
  file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/changelog DESTINATION ${doc} RENAME changelog.Debian)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/${package}.overrides)
    file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/${package}.overrides RENAME ${package}
      DESTINATION ${usr}/share/lintian/overrides)
  endif()
  file(GLOB pages ${usr}/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE archives ${usr}/lib/*.a)
  if(archives)
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${archives}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
