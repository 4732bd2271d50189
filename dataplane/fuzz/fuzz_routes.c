/* SPDX-License-Identifier: Apache-2.0 */
/* Feed any octets as a route file: it is rejected with one reason for each fault, or everything in
 * it is in range. Written again, it is read as the same routes. */
#include <arpa/inet.h>
#include <string.h>

#include "fuzz_file.h"
#include "routes.h"

static uint32_t nb_said;

static void
say(void *context, const char *text)
{
	(void)context;
	nb_said += text[0] != '\0';
}

static const struct routes_complaint complaint = {say, NULL};

static void
print_mac(FILE *file, const uint8_t *mac)
{
	fprintf(file, " %02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
}

static void
print_hop(FILE *file, const struct routes *routes, const struct route_hop *hop)
{
	static const char *const bare[] = {[ROUTE_BLACKHOLE] = "blackhole",
					   [ROUTE_LOCAL] = "local",
					   [ROUTE_NEIGHBOUR] = "neighbour"};

	if (hop->kind == ROUTE_GROUP) {
		fprintf(file, "group %u", hop->id);
		for (uint32_t i = 0; i < hop->nb_members; i++) {
			const struct route_member *member = &routes->members[hop->first_member + i];

			require(member->hop < routes->nb_hops && member->weight > 0 &&
				routes->hops[member->hop].kind != ROUTE_GROUP);
			fprintf(file, " %u", routes->hops[member->hop].id);
			if (member->weight > 1)
				fprintf(file, "*%u", member->weight);
		}
	} else if (hop->kind == ROUTE_FORWARD) {
		fprintf(file, "hop %u %u", hop->id, hop->port);
		print_mac(file, hop->source);
		print_mac(file, hop->target);
		if (hop->mtu != 0)
			fprintf(file, " %u", hop->mtu);
	} else {
		fprintf(file, "hop %u %s", hop->id, bare[hop->kind]);
	}
	fputs("\n", file);
}

static void
write_again(const struct routes *routes)
{
	struct routes again;
	char path[FUZZ_PATH_LEN], address[INET6_ADDRSTRLEN];
	int written = file_of(NULL, 0, path);
	FILE *file = fopen(path, "w");

	require(file != NULL);
	fputs(ROUTES_FORMAT "\n", file);
	for (uint32_t i = 0; i < routes->nb_hops; i++)
		print_hop(file, routes, &routes->hops[i]);
	for (uint32_t i = 0; i < routes->nb_routes; i++) {
		const struct route *route = &routes->list[i];

		inet_ntop(route->version == 4 ? AF_INET : AF_INET6, route->prefix, address,
			  sizeof(address));
		fprintf(file, "route %s/%u %u\n", address, route->length,
			routes->hops[route->hop].id);
	}
	require(fclose(file) == 0 && routes_read(&again, path, &complaint) == 0);
	require(again.nb_hops == routes->nb_hops && again.nb_routes == routes->nb_routes);
	for (uint32_t i = 0; i < routes->nb_hops; i++)
		require(memcmp(&again.hops[i], &routes->hops[i], sizeof(*routes->hops)) == 0);
	for (uint32_t i = 0; i < routes->nb_routes; i++)
		require(memcmp(&again.list[i], &routes->list[i], sizeof(*routes->list)) == 0);
	routes_free(&again);
	close(written);
}

int
LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
	struct routes routes;
	char path[FUZZ_PATH_LEN];
	int file = file_of(octets, size, path);
	uint32_t faults;

	nb_said = 0;
	faults = routes_read(&routes, path, &complaint);
	require(nb_said == (faults < ROUTES_COMPLAINTS_MAX ? faults : ROUTES_COMPLAINTS_MAX));
	if (faults > 0) {
		require(routes.hops == NULL && routes.members == NULL && routes.list == NULL);
	} else {
		require(memchr(octets, '\0', size) == NULL);
		for (uint32_t i = 0; i < routes.nb_hops; i++)
			require(routes.hops[i].id < ROUTES_HOPS_MAX);
		for (uint32_t i = 0; i < routes.nb_routes; i++)
			require(routes.list[i].hop < routes.nb_hops &&
				routes.list[i].length <= (routes.list[i].version == 4 ? 32 : 128));
		write_again(&routes);
		routes_free(&routes);
	}
	close(file);
	return 0;
}
