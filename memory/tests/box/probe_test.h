/*
 * probe_test.h - read all of a box that may be anything: it is read, or refused with one line.
 */
#ifndef PFS_BOX_PROBE_TEST_H
#define PFS_BOX_PROBE_TEST_H

/* What came of it; ends the process if a refusal is not one line. */
enum pfs_probe { PFS_PROBE_REFUSED, PFS_PROBE_INCONSISTENT, PFS_PROBE_FINE };
enum pfs_probe pfs_probe_box(const char *path);

#endif
