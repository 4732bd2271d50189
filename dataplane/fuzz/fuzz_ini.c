/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as an INI file: it is rejected, or every getter returns a value in its range or
 * records a fault. */
#include <string.h>

#include "core/config.h"
#include "fuzz_file.h"

static const char *const words[] = {"no", "yes", NULL};
static const char *const prefixes[] = {"port", "ring", "task"};

/* Each getter on one key: what it takes is in range, what it refuses leaves the value alone. */
static void
get_each(const struct config *config, const struct config_section *section, const char *key)
{
	unsigned int before = config_fault_count(config), index = 7, refused = 0;
	struct rte_ether_addr mac = {{0}};
	struct config_ip ip = {.version = 0};
	uint64_t whole = 5;
	double real = 0.5;
	bool flag = true;

	refused += config_u64(section, key, &whole, 3, 4000) != 0;
	require(whole >= 3 && whole <= 4000);
	refused += config_double(section, key, &real, 0.25, 1e9) != 0;
	require(real >= 0.25 && real <= 1e9);
	refused += config_bool(section, key, &flag) != 0;
	refused += config_mac(section, key, &mac) != 0;
	refused += config_enum(section, key, words, &index) != 0;
	require(index == 7 || index < 2);
	refused += config_ip(section, key, &ip) != 0;
	require(ip.version == 0 || ip.version == 4 || ip.version == 6);
	require(config_fault_count(config) == before + refused);
	require(config_has(section, key) || refused == 0);
}

static void
get_all(const struct config *config, const struct config_section *section)
{
	static const char *const keys[] = {"a", "rate", "type", "device"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		get_each(config, section, keys[i]);
	require(config_name(section) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	char path[FUZZ_PATH_LEN];
	int file = file_of(octets, size, path);
	struct config *config = config_load(path);
	const struct config_section *section;

	if (config != NULL) {
		require(memchr(octets, '\0', size) == NULL);
		if ((section = config_find(config, "eal")) != NULL)
			get_all(config, section);
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			for (section = config_next(config, prefixes[i], NULL); section != NULL;
			     section = config_next(config, prefixes[i], section))
				get_all(config, section);
		require(config_report(config) == config_fault_count(config));
		config_free(config);
	}
	close(file);
	return 0;
}
