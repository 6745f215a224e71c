/*
 * probe_test.h - read everything of a box that may be damaged, or expect a one-line refusal.
 */
#ifndef PFS_BOX_PROBE_TEST_H
#define PFS_BOX_PROBE_TEST_H

/* Returns the outcome; ends the process if a refusal is not one line. */
enum pfs_probe { PFS_PROBE_REFUSED, PFS_PROBE_INCONSISTENT, PFS_PROBE_FINE };
enum pfs_probe pfs_probe_box(const char *path);

#endif
