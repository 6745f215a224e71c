# The hooks of the accounts, in a stand-in of the server. They ask pfs-mem what the box says.
if(PFS_MEMORY AND PFS_TOOLS AND NOT PFS_DELAYS AND NOT PFS_SANITIZE)
  add_executable(accounts_hooks_test accounts_test.cc pfslab_accounts.cc)
  target_link_libraries(accounts_hooks_test PRIVATE pfsmemory Threads::Threads)
  foreach(case account others server off threads moves killed)
    add_test(NAME server.accounts.${case}
             COMMAND sh -c "d=$(mktemp -d) && $<TARGET_FILE:accounts_hooks_test> ${case} $<TARGET_FILE:pfs-mem> $d; s=$?; rm -rf $d; exit $s")
    set_tests_properties(server.accounts.${case} PROPERTIES LABELS server TIMEOUT 120)
  endforeach()
endif()
