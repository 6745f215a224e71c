/* status.c - a status in words, in each library that has statuses. */
#include <pfslab/status.h>

const char *pfs_status_text(enum pfs_status status)
{
	switch (status) {
	case PFS_OK: return "fine";
	case PFS_BAD_CONFIG: return "bad configuration";
	case PFS_BAD_VARIANT: return "unknown or unfit policy";
	case PFS_NO_MEMORY: return "no memory";
	case PFS_NO_NODE: return "no such NUMA node, or binding is refused";
	case PFS_FULL: return "full";
	}
	return "unknown status";
}
