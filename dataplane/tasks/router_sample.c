/* SPDX-License-Identifier: Apache-2.0 */
#include "router_sample.h"

#include <errno.h>
#include <string.h>

#include "pktlib/ip_scope.h"

/* Of this many, one is drawn from all addresses: few of those lie inside long prefixes. */
#define ANYWHERE 4

/* xorshift64* (Vigna 2016). */
uint32_t
samples_random(struct router_samples *samples)
{
	uint64_t *state = &samples->random;

	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

/* Return whether frames to an address are looked up. */
static bool
is_unicast(uint8_t version, const uint8_t *address)
{
	if (version == 4)
		return !ip_is_special_v4(address[0]);
	return address[0] != 0 && address[0] != 0xff && !ip_is_link_local_v6(address);
}

/* Draw what a prefix leaves open. */
static void
draw(struct router_samples *samples, struct router_sample *sample, const struct route *prefix)
{
	unsigned int octets = sample->version == 4 ? 4 : 16;

	memset(sample->address, 0, sizeof(sample->address));
	for (unsigned int i = 0; i < octets; i++)
		sample->address[i] = (uint8_t)samples_random(samples);
	for (unsigned int bit = 0; bit < prefix->length; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		sample->address[bit / 8] = (uint8_t)((sample->address[bit / 8] & ~mask) |
						     (prefix->prefix[bit / 8] & mask));
	}
}

void
samples_draw(struct router_samples *samples, const struct routes *routes,
	     const struct kernel *kernel, uint32_t nb)
{
	static const struct route everywhere[] = {{.version = 4},
						  {.version = 6, .length = 3, .prefix = {0x20}}};

	samples->nb = 0;
	for (uint32_t i = 0; i < nb; i++) {
		struct router_sample *sample = &samples->list[samples->nb];
		struct route anywhere = everywhere[i / ANYWHERE % 2];
		const struct route *prefix = &anywhere;

		anywhere.vrf = (uint8_t)(samples_random(samples) % (1 + kernel->nb_tables));
		if (i % ANYWHERE != 0 && routes->nb_routes > 0)
			prefix = &routes->list[samples_random(samples) % routes->nb_routes];
		sample->version = prefix->version;
		sample->table = kernel->tables[prefix->vrf];
		draw(samples, sample, prefix);
		samples->nb += is_unicast(sample->version, sample->address);
	}
}

/* Ask for one. Return 0 or a negative errno. */
static int
ask(struct router_sample *sample, struct feed *feed, struct kernel *kernel)
{
	const struct kernel_vrf *vrf = NULL;
	int ret;

	if (sample->table != 0) {
		vrf = kernel_vrf(kernel, sample->table);
		sample->answer = FEED_UNASKED;
		if (vrf == NULL || !vrf->is_up)
			return 0;
	}
	ret = feed_ask_route(feed, kernel, vrf, sample->version, sample->address);
	if (ret < 0)
		return ret;
	sample->answer = (enum feed_answer)ret;
	return 0;
}

int
samples_ask(struct router_samples *samples, struct feed *feed, struct kernel *kernel,
	    struct routes *answers, const atomic_bool *cancel)
{
	struct compile_report report;
	struct hop_ids ids;
	bool is_compiled;

	for (uint32_t i = 0; i < samples->nb; i++) {
		int ret = atomic_load(cancel) ? -ECANCELED : ask(&samples->list[i], feed, kernel);

		if (ret < 0)
			return ret;
	}
	hop_ids_open(&ids);
	is_compiled = compile(kernel, &ids, answers, &report);
	hop_ids_close(&ids);
	return is_compiled ? 0 : -ENOMEM;
}
