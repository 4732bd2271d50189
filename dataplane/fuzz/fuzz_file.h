/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by targets of files: octets as a file that has a path, and an invariant that must hold. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_PATH_LEN 32

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);

static inline void
require(bool holds)
{
	if (!holds)
		abort();
}

/* A file in memory that holds these octets. Close what it returns. */
static inline int
file_of(const uint8_t *octets, size_t size, char path[FUZZ_PATH_LEN])
{
	int file = memfd_create("fuzz", MFD_CLOEXEC);

	require(file >= 0 && write(file, octets, size) == (ssize_t)size);
	snprintf(path, FUZZ_PATH_LEN, "/proc/self/fd/%d", file);
	return file;
}

#endif
