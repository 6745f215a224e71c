// headers_test.cc - the public headers from C++: they compile, and records live through them, by
// the calls as C++ inlines them, and by those of the library.
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
	void (*volatile publish)(pfs_thread *, pfs_claim) = pfs_publish;
	bool lived = true;
	for (int i = 0; i < 2; i++) {
		pfs_claim claim = pfs_allocate(thread);
		if (i == 0)
			pfs_publish(thread, claim);
		else
			publish(thread, claim);
		lived = lived && pfs_version(claim.record) == 1 &&
			pfs_lookup(thread, pfs_index(thread, claim.record)) == claim.record;
		pfs_free(thread, claim.record);
		lived = lived && !pfs_owns(thread, claim.record);
	}
	pfs_thread_detach(thread);
	pfs_container_destroy(container);
	return lived ? 0 : 1;
}
