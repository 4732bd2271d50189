/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's tables: which users it owns, what routes and hops mean, changes while it runs. */
#include <string.h>

#include "bng/tables.h"
#include "../check.h"

static const char text[] = "wirespeed-bng-tables 1\n"
			   "hop 0 198.51.100.1 100 02:00:00:00:00:10 0\n"
			   "hop 1 198.51.100.2 - 02:00:00:00:00:11 1\n"
			   "route 10.0.0.0/8 0\n"
			   "route 10.1.0.0/16 1\n"
			   "route 10.1.2.128/25 0\n"
			   "user 1 1 100 0\n"
			   "user 1 2 101 0 10.0.0.1 02:00:00:00:00:01\n"
			   "user 1 3 102 3\n";

static void
complain(const struct bng_complaint *complaint, const char *what)
{
	(void)complaint;
	fprintf(stderr, "%s\n", what);
}

static struct bng_tables
build(uint32_t worker, uint32_t workers)
{
	const struct bng_complaint complaint = {complain, NULL};
	const struct bng_tables_room room = {.users = 2, .routes = 2};
	struct bng_table_file file;
	struct bng_tables tables;

	CHECK_EQ(bng_table_file_parse(&file, "t", text, strlen(text), &complaint), 0);
	CHECK_EQ(bng_tables_build(&tables, &file, worker, workers, &room, &bng_heap), 0);
	bng_table_file_free(&file);
	return tables;
}

static const struct bng_hop *
hop_of(const struct bng_tables *tables, uint32_t address)
{
	return &tables->hops->ready[bng_lpm_get(&tables->routes, address)];
}

static enum bng_change
change(struct bng_tables *tables, bool add, const char *line)
{
	const struct bng_complaint complaint = {complain, NULL};
	size_t word = strcspn(line, " ");
	enum bng_entry_kind kind = bng_entry_kind_of(line, word);
	const char *end = line + strlen(line);
	struct bng_entry entry;

	if (add) {
		CHECK_EQ(bng_entry_parse(&entry, kind, line + word, end, &complaint), 0);
		return bng_tables_add(tables, &entry);
	}
	CHECK_EQ(bng_entry_parse_name(&entry, kind, line + word, end, &complaint), 0);
	return bng_tables_remove(tables, &entry);
}

static void
test_workers(void)
{
	for (uint32_t worker = 0; worker < 3; worker++) {
		struct bng_tables tables = build(worker, 3);

		for (uint32_t key = 100; key < 103; key++) {
			bool ours = key % 3 == worker;

			CHECK_EQ(bng_hosts_has_user(&tables.hosts, key), ours);
			CHECK_EQ(bng_map_get(&tables.lines, bng_line(1, (uint16_t)(key - 99))),
				 ours ? key | BNG_LINE_KNOWN : 0);
		}
		bng_tables_free(&tables);
	}
}

static void
test_routes(void)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 5};
	struct bng_tables tables = build(0, 1);

	CHECK_EQ(hop_of(&tables, 0x0b000000)->verdict, BNG_NO_ROUTE);
	CHECK_EQ(hop_of(&tables, 0x0a000000)->header_len, 46);
	CHECK_EQ(hop_of(&tables, 0x0a010280)->header_len, 46);
	CHECK_EQ(hop_of(&tables, 0x0a01027f)->header_len, 42);
	CHECK_EQ(hop_of(&tables, 0x0a010000)->port, 1);
	bng_tables_set_source(&tables, 0xc0000201, mac);
	CHECK(memcmp(hop_of(&tables, 0x0a000000)->header + 2 + 6, mac, 6) == 0);
	CHECK_EQ(be32_load(hop_of(&tables, 0x0a000000)->header + 20 + 12), 0xc0000201);

	CHECK_EQ(bng_tables_add_local(&tables, 0x0a000001), BNG_CHANGED);
	CHECK_EQ(hop_of(&tables, 0x0a000001)->verdict, BNG_LOCAL);
	CHECK_EQ(hop_of(&tables, 0x0a000002)->verdict, BNG_FORWARD);

	CHECK_EQ(change(&tables, true, "route 0.0.0.0/0 1"), BNG_CHANGED);
	CHECK_EQ(change(&tables, true, "route 0.0.0.0/0 0"), BNG_IN_USE);
	CHECK_EQ(hop_of(&tables, 0x0b000000)->port, 1);
	CHECK_EQ(change(&tables, true, "hop 1 198.51.100.2 200 02:00:00:00:00:11 2"), BNG_CHANGED);
	CHECK_EQ(hop_of(&tables, 0x0b000000)->port, 2);
	CHECK_EQ(hop_of(&tables, 0x0a010000)->port, 2);
	CHECK_EQ(hop_of(&tables, 0x0a010000)->header_len, 46);
	CHECK_EQ(change(&tables, false, "route 0.0.0.0/0"), BNG_CHANGED);
	CHECK_EQ(change(&tables, false, "route 0.0.0.0/0"), BNG_NOT_THERE);
	CHECK_EQ(hop_of(&tables, 0x0b000000)->verdict, BNG_NO_ROUTE);

	CHECK_EQ(change(&tables, true, "route 11.0.0.0/24 7"), BNG_NOT_THERE);
	CHECK_EQ(change(&tables, true, "route 12.0.0.0/7 1"), BNG_TOO_SHORT);
	CHECK_EQ(change(&tables, true, "route 11.0.0.0/24 1"), BNG_CHANGED);
	CHECK_EQ(change(&tables, true, "route 11.0.0.0/24 0"), BNG_IN_USE);
	CHECK_EQ(hop_of(&tables, 0x0b000001)->port, 2);
	CHECK_EQ(change(&tables, false, "route 11.0.0.0/24"), BNG_CHANGED);
	CHECK_EQ(change(&tables, false, "route 11.0.0.0/24"), BNG_NOT_THERE);
	CHECK_EQ(hop_of(&tables, 0x0b000001)->verdict, BNG_NO_ROUTE);
	bng_tables_free(&tables);
}

static void
test_users(void)
{
	struct bng_tables tables = build(1, 3);
	uint32_t slot = bng_hosts_slot(&tables.hosts, 100);

	CHECK_EQ(change(&tables, true, "user 2 2 101 0"), BNG_NOT_OURS);
	CHECK_EQ(change(&tables, true, "user 1 1 103 0"), BNG_IN_USE);
	CHECK_EQ(change(&tables, true, "user 2 2 100 0"), BNG_IN_USE);
	CHECK_EQ(change(&tables, true, "user 2 2 100000 1 10.0.0.9 02:00:00:00:00:09"),
		 BNG_CHANGED);
	CHECK_EQ(bng_map_get(&tables.lines, bng_line(2, 2)), 100000 | BNG_LINE_KNOWN);
	slot = bng_hosts_slot(&tables.hosts, 100000);
	CHECK(slot != BNG_NO_SLOT);
	CHECK(bng_hosts_find(&tables.hosts, slot, 0x0a000009) != NULL);
	CHECK_EQ(change(&tables, true, "user 2 3 200002 1"), BNG_CHANGED);
	CHECK_EQ(change(&tables, true, "user 2 4 300001 1"), BNG_NO_ROOM); /* room for two */
	CHECK_EQ(bng_map_get(&tables.lines, bng_line(2, 4)), 0);
	CHECK_EQ(change(&tables, false, "user 2 3 100000"), BNG_NOT_THERE); /* another's tags */
	CHECK_EQ(change(&tables, false, "user 2 2 100000"), BNG_CHANGED);
	CHECK_EQ(bng_map_get(&tables.lines, bng_line(2, 2)), 0);
	CHECK(!bng_hosts_has_user(&tables.hosts, 100000));
	CHECK_EQ(change(&tables, true, "user 2 4 300001 1"), BNG_CHANGED);
	CHECK_EQ(change(&tables, false, "user 1 1 100"), BNG_CHANGED);
	CHECK_EQ(change(&tables, true, "user 1 9 100 4"), BNG_CHANGED);
	CHECK(bng_hosts_has_user(&tables.hosts, 100));
	bng_tables_free(&tables);
}

static void *
take_little(const struct bng_memory *memory, size_t bytes)
{
	(void)memory;
	return bytes > (1 << 20) ? NULL : bng_heap.take(&bng_heap, bytes);
}

static void
test_short_of_memory(void)
{
	const struct bng_memory little = {.take = take_little, .give = bng_heap.give};
	const struct bng_complaint complaint = {complain, NULL};
	const struct bng_tables_room room = {0};
	struct bng_table_file file;
	struct bng_tables tables;

	CHECK_EQ(bng_table_file_parse(&file, "t", text, strlen(text), &complaint), 0);
	CHECK_EQ(bng_tables_build(&tables, &file, 0, 1, &room, &little), -1);
	CHECK(tables.hops == NULL);
	bng_table_file_free(&file);
}

int
main(void)
{
	test_workers();
	test_routes();
	test_users();
	test_short_of_memory();
	return 0;
}
