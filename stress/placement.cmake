# Placement of threads and memory: on described machines, on this one, and on a guest of 4 nodes.

add_executable(placement_test unit/placement_test.c ${PROJECT_SOURCE_DIR}/bench/placement.c)
target_compile_definitions(placement_test PRIVATE
  PFS_FOUR_NODES_XML="${CMAKE_CURRENT_SOURCE_DIR}/numa_vm/four_nodes.xml")
add_executable(memory_test unit/memory_test.c)
add_executable(numa_probe numa_vm/probe.c ${PROJECT_SOURCE_DIR}/bench/placement.c)
foreach(target placement_test memory_test numa_probe)
  target_link_libraries(${target} PRIVATE pfscommand pfslab::pfslab PkgConfig::HWLOC Threads::Threads)
endforeach()

add_test(NAME unit.placement COMMAND placement_test)
add_test(NAME unit.memory COMMAND memory_test)
set_tests_properties(unit.placement unit.memory PROPERTIES LABELS unit SKIP_RETURN_CODE 77)

# A sanitizer's shadow memory does not fit the guest, and its build shows nothing more there; nor
# does one that counts.
if(NOT PFS_SANITIZE AND NOT PFS_COUNTING)
  set(numa_vm_commands $<TARGET_FILE:numa_probe> $<TARGET_FILE:placement_test>
      $<TARGET_FILE:memory_test>)
  if(TARGET pfs-bench)
    list(APPEND numa_vm_commands "$<TARGET_FILE:pfs-bench>\
 --workloads=pair --policies=random_start --placements=scatter --memory=local --threads=8\
 --window-ms=50 --benchmark_color=false")
  endif()
  add_test(NAME numa-vm COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/numa_vm/run_guest.sh
           ${numa_vm_commands})
  set_tests_properties(numa-vm PROPERTIES LABELS numa-vm SKIP_RETURN_CODE 77 TIMEOUT 600
                       COST 20 ENVIRONMENT PFS_GUEST_SECONDS=500)
endif()
