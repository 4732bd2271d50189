/* SPDX-License-Identifier: Apache-2.0 */
/* Files that commands write: what does not fit into a reply. */
#ifndef WSDP_EXPORT_H
#define WSDP_EXPORT_H

#include <errno.h>
#include <stdio.h>

/* Close a file that was written. Returns 0, or -EIO if anything did not reach it. */
static inline int
export_close(FILE *file)
{
	int failed = ferror(file);

	return fclose(file) != 0 || failed ? -EIO : 0;
}

#endif
