// headers_test.cc - the public headers from C++: they compile, and a record lives through them.
#include <pfslab/partitioned.h>
#include <pfslab/variant.h>

#include <cstdio>

int main()
{
	pfs_config config;
	pfs_message message;
	pfs_container *container = nullptr;
	pfs_thread *thread = nullptr;
	pfs_config_init(&config);
	if (pfs_container_create(pfs_variant_find("original"), &config, &container, &message) !=
		    PFS_OK ||
	    pfs_thread_attach(container, &thread) != PFS_OK) {
		std::fprintf(stderr, "%s\n", message.text);
		return 1;
	}
	pfs_claim claim = pfs_allocate(thread);
	pfs_publish(thread, claim);
	bool lived = pfs_lookup(thread, pfs_index(thread, claim.record)) == claim.record;
	pfs_free(thread, claim.record);
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
	return lived ? 0 : 1;
}
