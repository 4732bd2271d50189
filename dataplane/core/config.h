/* SPDX-License-Identifier: Apache-2.0 */
/* The INI file, read through rte_cfgfile and checked beyond it: every fault is collected, so that
 * the user sees all of them at once, each with file, section, key, value and what is allowed.
 *
 * The getters below leave *value alone (the caller's default) when the key is absent, mark the key
 * as known, and on a bad value record a fault and return -EINVAL. Keys nobody asked for are faults.
 */
#ifndef WSDP_CONFIG_H
#define WSDP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rte_common.h>
#include <rte_ether.h>

struct config;
struct config_section;

/* An IPv4 or IPv6 address in network byte order. */
struct config_ip {
	uint8_t version;   /* 4 or 6 */
	uint8_t bytes[16]; /* the first 4 for IPv4 */
};

/* Read a file. Returns NULL (after messages on stderr) when it cannot be read or a line is no INI;
 * anything less is a fault to be found by config_report. */
struct config *config_load(const char *path);
void config_free(struct config *config);

/* The section of exactly this name, or NULL. */
const struct config_section *config_find(const struct config *config, const char *name);
/* The next section after `previous` (NULL: the first) named PREFIX.something, or NULL. */
const struct config_section *
config_next(const struct config *config, const char *prefix, const struct config_section *previous);
/* The part of a section's name after the first dot: "gen0" of [task.gen0]. */
const char *config_name(const struct config_section *section);

bool config_has(const struct config_section *section, const char *key);
/* A fault when the key is absent. Returns whether it is present. */
bool config_require(const struct config_section *section, const char *key);

int config_u64(const struct config_section *section, const char *key, uint64_t *value, uint64_t min,
	       uint64_t max);
int config_u32(const struct config_section *section, const char *key, uint32_t *value, uint32_t min,
	       uint32_t max);
int config_u16(const struct config_section *section, const char *key, uint16_t *value, uint16_t min,
	       uint16_t max);
int config_double(const struct config_section *section, const char *key, double *value, double min,
		  double max);
/* "yes" or "no". */
int config_bool(const struct config_section *section, const char *key, bool *value);
/* The text itself; it lives as long as the config. NULL when absent. */
const char *config_string(const struct config_section *section, const char *key);
int config_mac(const struct config_section *section, const char *key, struct rte_ether_addr *value);
int config_ip(const struct config_section *section, const char *key, struct config_ip *value);
/* One of the words of a NULL-terminated list; *value becomes its index. */
int config_enum(const struct config_section *section, const char *key, const char *const *words,
		unsigned int *value);

/* A fault for each of these keys that is present: it would be ignored. Returns 0 or -EINVAL. */
int config_refuse(const struct config_section *section, const char *const *keys, size_t nb,
		  const char *why);

/* Mark every key as known: the section has a fault that keeps its keys from being looked at. */
void config_skip(const struct config_section *section);

/* Record a fault. `key` may be NULL for the section as a whole; `format` says what is allowed or
 * what is wrong. Section, key and the key's value are added by the function. */
void config_fault(const struct config_section *section, const char *key, const char *format, ...)
	__rte_format_printf(3, 4);
/* Record every section and key that nobody asked for, print all faults on stderr, return their
 * number. */
unsigned int config_report(struct config *config);
unsigned int config_fault_count(const struct config *config);
const char *config_fault_text(const struct config *config, unsigned int index);

#endif
