/*
 * recorder.h - the end of a recording, for endings.c. All do nothing in a process that is not
 * the recorded one, and keep what was recorded where the ring cannot be had: a signal handler
 * that interrupted the recorder, a thread that was stopped in it.
 */
#ifndef PFS_RECORDER_RECORDER_H
#define PFS_RECORDER_RECORDER_H

#include <stdbool.h>

/* For good. */
void pfs_recorder_finish(void);

/* Finish the trace, because this process becomes another program. With true, should it not
 * become one: resume. Other threads that fill the ring wait until then. */
bool pfs_recorder_pause(void);
void pfs_recorder_resume(void);

#endif
