/* SPDX-License-Identifier: Apache-2.0 */
/* rte_fib counts tables of 256 entries for each prefix that it adds to its tree, wrongly where a prefix has the hop of
 * a shorter one, or goes: after some changes it refuses all that need one (DPDK 22.11). It does not count for a prefix
 * that the tree has. So prefixes are put into the tree first, and the tables themselves tell when they are full. */
#include <errno.h>
#include <string.h>

#include "fib.h"
#include "fib_tree.h"
#include "pktlib/bytes.h"

/* Not the number of a hop: other than each value that a prefix has or gets. */
#define FIB_OTHER (1 + ROUTES_HOPS_MAX)

uint64_t
fib_value(const struct fib *fib, const struct route *prefix)
{
	return prefix->version == 4 ? fib_tree_value_v4(fib_rib_v4(fib), prefix)
				    : fib_tree_value_v6(fib_rib_v6(fib), prefix);
}

static void
last_address(const struct route *prefix, uint8_t *address)
{
	unsigned int bits = prefix->version == 4 ? 32 : 128;

	memcpy(address, prefix->prefix, sizeof(prefix->prefix));
	for (unsigned int bit = prefix->length; bit < bits; bit++)
		address[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

/* Return whether the table that frames use answers as the tree of prefixes. */
static bool
is_looked_up(const struct fib *fib, uint8_t version, const uint8_t *address)
{
	uint64_t found = FIB_NO_ROUTE, wanted = FIB_NO_ROUTE;
	uint32_t number = be32_load(address);
	uint8_t octets[1][16];

	if (version == 4) {
		struct rte_rib_node *node = rte_rib_lookup(fib_rib_v4(fib), number);

		if (node != NULL)
			rte_rib_get_nh(node, &wanted);
		fib_lookup_v4(fib, &number, &found, 1);
	} else {
		struct rte_rib6_node *node =
			rte_rib6_lookup(fib_rib_v6(fib), (void *)(uintptr_t)address);

		if (node != NULL)
			rte_rib6_get_nh(node, &wanted);
		memcpy(octets[0], address, sizeof(octets[0]));
		fib_lookup_v6(fib, octets, &found, 1);
	}
	return found == wanted;
}

bool
fib_agrees(const struct fib *fib, const struct route *prefix)
{
	uint8_t last[16];

	last_address(prefix, last);
	return is_looked_up(fib, prefix->version, prefix->prefix) &&
	       is_looked_up(fib, prefix->version, last);
}

/* Set the value of a prefix in the tree alone. */
static int
note(const struct fib *fib, const struct route *prefix, uint64_t value)
{
	return prefix->version == 4 ? fib_tree_set_v4(fib_rib_v4(fib), prefix, value)
				    : fib_tree_set_v6(fib_rib_v6(fib), prefix, value);
}

/* Return what a prefix that has no value of its own is looked up to, which is in the tree. */
static uint64_t
value_above(const struct fib *fib, const struct route *prefix)
{
	return prefix->version == 4 ? fib_tree_above_v4(fib_rib_v4(fib), prefix)
				    : fib_tree_above_v6(fib_rib_v6(fib), prefix);
}

/* Have a prefix of the tree looked up to a value. Where there is room for it, the tree has it afterwards: DPDK does not
 * report anything else. */
static void
write_value(struct fib *fib, const struct route *prefix, uint64_t value)
{
	/* The parameter has another type from DPDK 24.11 on. */
	const void *octets = prefix->prefix;

	if (prefix->version == 4)
		(void)rte_fib_add(fib->v4, be32_load(prefix->prefix), prefix->length, value);
	else
		(void)rte_fib6_add(fib->v6, octets, prefix->length, value);
}

static void
delete_value(struct fib *fib, const struct route *prefix)
{
	/* The parameter has another type from DPDK 24.11 on. */
	const void *octets = prefix->prefix;

	if (prefix->version == 4)
		(void)rte_fib_delete(fib->v4, be32_load(prefix->prefix), prefix->length);
	else
		(void)rte_fib6_delete(fib->v6, octets, prefix->length);
}

/* Have a prefix looked up to a value again, as far as a change without room came, and let the tree have another. */
static void
take_back(struct fib *fib, const struct route *prefix, uint64_t looked_up, uint64_t value)
{
	(void)note(fib, prefix, FIB_OTHER);
	write_value(fib, prefix, looked_up);
	(void)note(fib, prefix, value);
}

/* Return whether a change is complete. */
static bool
has(const struct fib *fib, const struct route *prefix, uint64_t value)
{
	return fib_value(fib, prefix) == value && fib_agrees(fib, prefix);
}

int
fib_change(struct fib *fib, const struct route *prefix, uint64_t value)
{
	uint64_t before = fib_value(fib, prefix), looked_up = before;
	int ret;

	if (before == value)
		return 0;
	if (fib->small[prefix->version == 6] != NULL)
		return fib_small_set(fib->small[prefix->version == 6], prefix, value);
	if (prefix->version == 4 ? fib->v4 == NULL : fib->v6 == NULL)
		return -ENOSPC;
	if (before == FIB_NO_ROUTE) {
		ret = note(fib, prefix, FIB_OTHER);
		if (ret != 0)
			return ret;
		looked_up = value_above(fib, prefix);
	}
	if (value == FIB_NO_ROUTE)
		delete_value(fib, prefix);
	else
		write_value(fib, prefix, value);
	if (has(fib, prefix, value))
		return 0;
	take_back(fib, prefix, looked_up, before);
	return has(fib, prefix, before) ? -ENOSPC : -EIO;
}
