/* SPDX-License-Identifier: Apache-2.0 */
/* Files that commands write: what does not fit into a reply. */
#ifndef WSDP_EXPORT_H
#define WSDP_EXPORT_H

#include <stdio.h>

/* Open a file to be written anew, or NULL with errno set. A pipe that nobody reads is refused: to wait
 * for a reader would make all other commands wait. */
FILE *export_open(const char *path);
/* Close a file that was written. Returns 0, or -EIO if anything did not reach it. */
int export_close(FILE *file);

#endif
