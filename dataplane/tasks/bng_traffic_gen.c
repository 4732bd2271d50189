/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <rte_malloc.h>

#include "bng_traffic.h"
#include "core/config.h"
#include "core/task.h"
#include "gen_config.h"
#include "gen_head.h"
#include "pktlib/bng/offer.h"

/* Subscribers are read in the order in which they lie in memory; the peers that they talk to are
 * not, and neither are the headers of the peers' hops. Both are small. */
struct bng_traffic {
	struct bng_script script;
	struct bng_offer offer;
	struct bng_offer_packet *packets; /* one for each size */
	uint8_t *octets;                  /* of the packets */
	const struct frame_sizes *sizes;
	uint32_t arp_every;
	uint32_t until_arp; /* frames */
};

static __rte_always_inline struct gen_filled
fill(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment, bool upstream)
{
	struct bng_traffic *bng = source->content_state;
	const struct frame_sizes *sizes = bng->sizes;
	struct gen_filled filled = {0};

	for (uint16_t i = 0; i < n; i++) {
		const struct bng_offer_packet *packet =
			&bng->packets[sizes->position[source->position]];
		struct gen_turn *turn = packet->stamped ? &source->stamped : &source->plain;
		uint8_t *frame = (uint8_t *)mbufs[i]->buf_addr + RTE_PKTMBUF_HEADROOM;
		struct gen_head head;
		uint16_t len;

		if (unlikely(bng->arp_every != 0 && --bng->until_arp == 0)) {
			bng->until_arp = bng->arp_every;
			len = bng_offer_announce(&bng->offer, frame, turn->flow);
		} else {
			len = bng_offer_write(
				&bng->offer, frame, packet, turn->flow, (uint16_t)turn->sequence,
				stamp_identity(source->stream, turn->flow, turn->sequence), moment,
				upstream);
			filled.stamped += packet->stamped;
			gen_next_turn(turn, source->flows);
			if (++source->position == sizes->nb_positions)
				source->position = 0;
		}
		head = gen_head_for(len);
		memcpy(&mbufs[i]->rearm_data, &head, sizeof(head));
		filled.octets += len + FCS_BYTES;
	}
	return filled;
}

static struct gen_filled
fill_up(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill(source, mbufs, n, moment, true);
}

static struct gen_filled
fill_down(struct gen_source *source, struct rte_mbuf **mbufs, uint16_t n, uint64_t moment)
{
	return fill(source, mbufs, n, moment, false);
}

static int
build_packets(struct bng_traffic *bng, const struct gen_config *config, bool pppoe,
	      const struct task *task)
{
	const struct frame_sizes *sizes = &config->sizes;
	size_t nb_octets = 0, at = 0;

	for (unsigned int i = 0; i < sizes->nb_sizes; i++)
		nb_octets += FRAME_ROOM(bng_script_packet(sizes->sizes[i], pppoe));
	bng->packets = rte_calloc_socket(task->name, sizes->nb_sizes, sizeof(*bng->packets), 0,
					 task->socket_id);
	bng->octets = rte_zmalloc_socket(task->name, nb_octets, FRAME_BLOCK, task->socket_id);
	if (bng->packets == NULL || bng->octets == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < sizes->nb_sizes; i++) {
		uint16_t total = bng_script_packet(sizes->sizes[i], pppoe);

		bng_offer_packet_build(&bng->packets[i], total, config->frame.stamped,
				       bng->octets + at);
		at += FRAME_ROOM(total);
	}
	bng->sizes = sizes;
	return 0;
}

int
bng_traffic_gen_read(struct gen_config *config, const struct config_section *section)
{
	static const char *const meaningless[] = {
		"ip",     "vlan",   "inner_vlan", "src_mac",  "dst_mac",
		"src_ip", "dst_ip", "src_port",   "dst_port", "flow_field",
	};
	struct bng_traffic_keys *keys = (void *)&config->content_keys;
	int ret = config_refuse(section, meaningless, RTE_DIM(meaningless),
				"has no meaning next to bng: the tables say it");

	if (gen_config_read_sizes(config, section) != 0)
		return -EINVAL;
	ret |= bng_traffic_read(keys, section);
	ret |= config_u32(section, "arp_every", &keys->arp_every, 2, UINT32_MAX);
	if (keys->arp_every != 0 && keys->spec.pppoe) {
		config_fault(section, "arp_every",
			     "does not go with access = pppoe: there is no ARP");
		ret = -EINVAL;
	} else if (keys->arp_every != 0 && !keys->spec.upstream) {
		config_fault(section, "arp_every",
			     "goes with bng = up: subscribers announce "
			     "themselves");
		ret = -EINVAL;
	}
	config->flows = keys->spec.flows;
	for (unsigned int i = 0; i < config->sizes.nb_sizes; i++) {
		uint16_t packet = bng_script_packet(config->sizes.sizes[i], keys->spec.pppoe);

		/* Octets of the largest packet, written in whole blocks. */
		config->largest_bytes = RTE_MAX(config->largest_bytes,
						(uint32_t)BNG_OFFER_ROOM(packet) + FCS_BYTES);
	}
	return ret;
}

static void
free_traffic(struct bng_traffic *bng)
{
	bng_offer_free(&bng->offer);
	bng_script_free(&bng->script);
	rte_free(bng->packets);
	rte_free(bng->octets);
	rte_free(bng);
}

int
bng_traffic_gen_open(struct gen_source *source, const struct gen_config *config,
		     const struct task *task)
{
	const struct bng_traffic_keys *keys = (const void *)&config->content_keys;
	struct bng_traffic *bng =
		rte_zmalloc_socket(task->name, sizeof(*bng), RTE_CACHE_LINE_SIZE, task->socket_id);
	int ret;

	if (bng == NULL)
		return -ENOMEM;
	bng->arp_every = keys->arp_every;
	ret = bng_traffic_open(&bng->script, keys, task);
	if (ret == 0 && (bng_offer_build(&bng->offer, &bng->script) != 0 ||
			 build_packets(bng, config, keys->spec.pppoe, task) != 0)) {
		fprintf(stderr, "wsdp: [task.%s] no memory for its frames\n", task->name);
		ret = -ENOMEM;
	}
	if (ret != 0) {
		free_traffic(bng);
		return ret;
	}
	source->content_state = bng;
	source->flows = bng->script.nb_users;
	source->fill = keys->spec.upstream ? fill_up : fill_down;
	return 0;
}

void
bng_traffic_gen_close(struct gen_source *source)
{
	free_traffic(source->content_state);
}

void
bng_traffic_gen_rewind(struct gen_source *source)
{
	struct bng_traffic *bng = source->content_state;

	bng->until_arp = bng->arp_every;
}
