/* SPDX-License-Identifier: Apache-2.0 */
/* The typed getters of config.h, on top of config_string and config_fault. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "number.h"

int
config_u64(const struct config_section *section, const char *key, uint64_t *value, uint64_t min,
	   uint64_t max)
{
	const char *text = config_string(section, key);

	if (text == NULL || number_u64(text, value, min, max) == 0)
		return 0;
	config_fault(section, key, "must be a whole number from %" PRIu64 " to %" PRIu64, min, max);
	return -EINVAL;
}

int
config_u32(const struct config_section *section, const char *key, uint32_t *value, uint32_t min,
	   uint32_t max)
{
	uint64_t wide = *value;
	int ret = config_u64(section, key, &wide, min, max);

	*value = wide;
	return ret;
}

int
config_u16(const struct config_section *section, const char *key, uint16_t *value, uint16_t min,
	   uint16_t max)
{
	uint64_t wide = *value;
	int ret = config_u64(section, key, &wide, min, max);

	*value = wide;
	return ret;
}

int
config_double(const struct config_section *section, const char *key, double *value, double min,
	      double max)
{
	const char *text = config_string(section, key);

	if (text == NULL || number_double(text, value, min, max) == 0)
		return 0;
	config_fault(section, key, "must be a number from %.15g to %.15g", min, max);
	return -EINVAL;
}

int
config_enum(const struct config_section *section, const char *key, const char *const *words,
	    unsigned int *value)
{
	const char *text = config_string(section, key);
	char allowed[256] = "";

	if (text == NULL)
		return 0;
	for (unsigned int i = 0; words[i] != NULL; i++) {
		size_t used = strlen(allowed);

		if (strcmp(words[i], text) == 0) {
			*value = i;
			return 0;
		}
		snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i == 0 ? "" : ", ",
			 words[i]);
	}
	config_fault(section, key, "must be one of: %s", allowed);
	return -EINVAL;
}

int
config_bool(const struct config_section *section, const char *key, bool *value)
{
	static const char *const words[] = {"no", "yes", NULL};
	unsigned int index = *value;
	int ret = config_enum(section, key, words, &index);

	*value = index != 0;
	return ret;
}

int
config_mac(const struct config_section *section, const char *key, struct rte_ether_addr *value)
{
	const char *text = config_string(section, key);

	if (text == NULL)
		return 0;
	if (rte_ether_unformat_addr(text, value) != 0) {
		config_fault(section, key, "must be a MAC address such as 02:00:00:00:00:01");
		return -EINVAL;
	}
	return 0;
}

int
config_ip(const struct config_section *section, const char *key, struct config_ip *value)
{
	const char *text = config_string(section, key);
	struct config_ip parsed = {0};

	if (text == NULL)
		return 0;
	if (inet_pton(AF_INET, text, parsed.bytes) == 1) {
		parsed.version = 4;
	} else if (inet_pton(AF_INET6, text, parsed.bytes) == 1) {
		parsed.version = 6;
	} else {
		config_fault(section, key, "must be an IPv4 or IPv6 address");
		return -EINVAL;
	}
	*value = parsed;
	return 0;
}
