/*
 * response.c - a response with the common headers.
 */
#include "http.h"

static const char *const policies[] = {
	[PFS_POLICY_DATA] = "default-src 'none'; frame-ancestors 'none'",
	[PFS_POLICY_PAGE] = ("default-src 'none'; script-src 'self'; style-src 'self' "
			     "'unsafe-inline'; connect-src 'self'; frame-src 'self'; base-uri "
			     "'none'; form-action 'none'; frame-ancestors 'none'"),
	[PFS_POLICY_FRAME] = ("sandbox allow-scripts; default-src 'none'; script-src "
			      "'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'self'"),
};

struct MHD_Response *pfs_http_response(char *text, size_t bytes, const char *type,
				       enum pfs_http_policy policy,
				       MHD_ContentReaderFreeCallback done, void *opaque)
{
	struct MHD_Response *self =
		MHD_create_response_from_buffer_with_free_callback_cls(bytes, text, done, opaque);
	const char *const headers[][2] = {
		{ "Content-Type", type },
		{ "Content-Security-Policy", policies[policy] },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cache-Control", "no-store" },
		/* One request per connection, which needs one deadline. */
		{ "Connection", "close" },
	};
	for (size_t i = 0; self != NULL && i < sizeof(headers) / sizeof(headers[0]); i++)
		(void)MHD_add_response_header(self, headers[i][0], headers[i][1]);
	return self;
}
