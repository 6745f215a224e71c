/*
 * recorder.h - the end of a recording, for endings.c.
 *
 * All calls do nothing in a process that is not recorded, and keep what was recorded if the ring's
 * lock cannot be had: in a signal handler that interrupted the recorder, or if a thread was stopped
 * in it.
 */
#ifndef PFS_RECORDER_RECORDER_H
#define PFS_RECORDER_RECORDER_H

#include <stdbool.h>

/* For good. */
void pfs_recorder_finish(void);

/* Finish the trace, because this process is about to exec. If it returns true and the exec fails:
 * resume. Other threads that fill the ring wait until then. */
bool pfs_recorder_pause(void);
void pfs_recorder_resume(void);

#endif
