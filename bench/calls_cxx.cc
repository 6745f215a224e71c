// calls_cxx.cc - see calls.h: the calls by the public API from C++.
#include "bench/calls_with.h"

PFS_PUBLIC_CALLS(pfs_calls_cxx)
