/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a file of destinations: it is rejected with a reason, or each address is one of a
 * host. */
#include "destinations.h"
#include "flow_step.h"
#include "fuzz_file.h"

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	struct destinations found;
	struct fault why = {.text = ""};
	char path[FUZZ_PATH_LEN];
	int file = file_of(octets, size, path);

	for (uint8_t version = 4; version <= 6; version += 2) {
		if (destinations_load(&found, path, version, &why) < 0) {
			require(why.text[0] != '\0' && found.list == NULL && found.nb == 0);
			continue;
		}
		require(found.nb > 0 && found.nb <= FLOWS_MAX);
		for (uint32_t i = 0; i < found.nb; i++)
			require(version == 4 ? found.list[i].low < UINT64_C(224) << 24
					     : found.list[i].high >> 56 != 0xff);
		destinations_unload(&found);
	}
	close(file);
	return 0;
}
