/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <rte_common.h>

#include "core/config.h"
#include "core/task.h"
#include "gen_config.h"
#include "gen_load.h"
#include "pktlib/destinations.h"
#include "pktlib/pcap_file.h"

#define RSS_QUEUES_MAX 64

/* Addresses set aside for benchmarks: RFC 2544 appendix C.2.2 and RFC 5180 section 8. */
static const struct gen_config defaults = {
	.load = {.burst = 32, .catchup_ns = 1000000, .span_ns = 2000},
	.frame =
		{
			.ip_version = 4,
			.outer_tpid = TPID_QINQ,
			.src_mac = {0x02, 0, 0, 0, 0, 0x01},
			.dst_mac = {0x02, 0, 0, 0, 0, 0x02},
			.src_port = 1024,
			.dst_port = 7,
			.stamped = true,
		},
	.field = FLOW_SRC_PORT,
	.flows = 1,
};
static const uint8_t ipv4_source[] = {198, 18, 0, 1};
static const uint8_t ipv4_destination[] = {198, 19, 0, 1};
static const uint8_t ipv6_source[16] = {0x20, 0x01, 0x00, 0x02, [15] = 1};
static const uint8_t ipv6_destination[16] = {0x20, 0x01, 0x00, 0x02, [5] = 1, [15] = 1};

/* The keys that make frames; a replayed file has frames already. */
static const char *const frame_keys[] = {
	"frame",      "ip",         "vlan",      "inner_vlan",   "outer_tpid", "src_mac",
	"dst_mac",    "src_ip",     "dst_ip",    "src_port",     "dst_port",   "flows",
	"flow_field", "rss_queues", "rss_queue", "destinations",
};

static const char *const rss_keys[] = {"rss_queues", "rss_queue"};

static int
read_ip_version(struct frame_spec *frame, const struct config_section *section)
{
	static const char *const versions[] = {"4", "6", NULL};
	unsigned int version = 0;
	int ret = config_enum(section, "ip", versions, &version);

	frame->ip_version = version == 0 ? 4 : 6;
	if (frame->ip_version == 4) {
		memcpy(frame->src_ip, ipv4_source, sizeof(ipv4_source));
		memcpy(frame->dst_ip, ipv4_destination, sizeof(ipv4_destination));
	} else {
		memcpy(frame->src_ip, ipv6_source, sizeof(ipv6_source));
		memcpy(frame->dst_ip, ipv6_destination, sizeof(ipv6_destination));
	}
	return ret;
}

static int
read_address(const struct config_section *section, const char *key, uint8_t version, uint8_t *ip)
{
	struct config_ip address;

	if (!config_has(section, key))
		return 0;
	if (config_ip(section, key, &address) != 0)
		return -EINVAL;
	if (address.version != version) {
		config_fault(section, key, "must be an IPv%u address, as ip = %u says", version,
			     version);
		return -EINVAL;
	}
	memcpy(ip, address.bytes, sizeof(address.bytes));
	return 0;
}

static int
read_macs(struct frame_spec *frame, const struct config_section *section)
{
	struct rte_ether_addr source, destination;
	int ret = 0;

	memcpy(&source, frame->src_mac, sizeof(source));
	memcpy(&destination, frame->dst_mac, sizeof(destination));
	ret |= config_mac(section, "src_mac", &source);
	ret |= config_mac(section, "dst_mac", &destination);
	memcpy(frame->src_mac, &source, sizeof(source));
	memcpy(frame->dst_mac, &destination, sizeof(destination));
	return ret;
}

static int
read_tags(struct frame_spec *frame, const struct config_section *section)
{
	static const char *const tpids[] = {"0x88a8", "0x8100", NULL};
	unsigned int tpid = 0;
	int ret = 0;

	ret |= config_u16(section, "vlan", &frame->vlan, 1, 4094);
	ret |= config_u16(section, "inner_vlan", &frame->inner_vlan, 1, 4094);
	ret |= config_enum(section, "outer_tpid", tpids, &tpid);
	frame->outer_tpid = tpid == 0 ? TPID_QINQ : TPID_VLAN;
	frame->nb_tags = config_has(section, "vlan") + config_has(section, "inner_vlan");
	if (config_has(section, "inner_vlan") && !config_has(section, "vlan")) {
		config_fault(section, "inner_vlan", "needs vlan, the outer tag");
		ret = -EINVAL;
	}
	if (config_has(section, "outer_tpid") && !config_has(section, "inner_vlan")) {
		config_fault(section, "outer_tpid", "needs inner_vlan: one tag alone has 0x8100");
		ret = -EINVAL;
	}
	return ret;
}

static int
read_frame(struct frame_spec *frame, const struct config_section *section)
{
	struct fault why;
	int ret = 0;

	ret |= read_ip_version(frame, section);
	ret |= read_address(section, "src_ip", frame->ip_version, frame->src_ip);
	ret |= read_address(section, "dst_ip", frame->ip_version, frame->dst_ip);
	ret |= read_macs(frame, section);
	ret |= read_tags(frame, section);
	ret |= config_u16(section, "src_port", &frame->src_port, 1, UINT16_MAX);
	ret |= config_u16(section, "dst_port", &frame->dst_port, 1, UINT16_MAX);
	if (ret == 0 && frame_spec_check(frame, &why) != 0) {
		config_fault(section, NULL, "%s", why.text);
		ret = -EINVAL;
	}
	return ret;
}

int
gen_config_read_sizes(struct gen_config *config, const struct config_section *section)
{
	const char *text = config_string(section, "frame");
	struct fault why;

	if (frame_sizes_parse(&config->sizes, text != NULL ? text : "64", &why) == 0)
		return 0;
	config_fault(section, "frame", "%s", why.text);
	return -EINVAL;
}

static int
read_sizes(struct gen_config *config, const struct config_section *section)
{
	unsigned int least = frame_min_bytes(&config->frame);

	if (gen_config_read_sizes(config, section) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < config->sizes.nb_sizes; i++) {
		config->largest_bytes = RTE_MAX(config->largest_bytes, config->sizes.sizes[i]);
		if (config->sizes.sizes[i] < least) {
			config_fault(section, "frame", "IPv%u with %u VLAN tags needs %u octets",
				     config->frame.ip_version, config->frame.nb_tags, least);
			return -EINVAL;
		}
	}
	return 0;
}

static int
read_flows(struct gen_config *config, const struct config_section *section)
{
	const char *field = config_string(section, "flow_field");
	struct fault why;

	if (field != NULL && flow_field_parse(&config->field, field, &why) != 0) {
		config_fault(section, "flow_field", "%s", why.text);
		return -EINVAL;
	}
	if (config_u32(section, "flows", &config->flows, 1, FLOWS_MAX) != 0)
		return -EINVAL;
	if (flow_step_check(&config->frame, config->field, config->flows, &why) != 0) {
		config_fault(section, field != NULL ? "flow_field" : "flows", "%s", why.text);
		return -EINVAL;
	}
	return 0;
}

/* Each address is a flow: check the file, and count them. */
static int
read_destinations(struct gen_config *config, const struct config_section *section)
{
	static const char *const meaningless[] = {"dst_ip", "flows", "flow_field"};
	struct destinations found;
	struct fault why;
	int ret = config_refuse(section, meaningless, RTE_DIM(meaningless),
				"has no meaning next to destinations: each address is a flow");

	ret |= config_refuse(section, rss_keys, RTE_DIM(rss_keys),
			     "does not go with destinations: one sender has all flows");
	config->destinations = config_string(section, "destinations");
	if (destinations_load(&found, config->destinations, config->frame.ip_version, &why) != 0) {
		config_fault(section, "destinations", "%s", why.text);
		return -EINVAL;
	}
	config->flows = found.nb;
	config->field = FLOW_DST_IP;
	memset(config->frame.dst_ip, 0, sizeof(config->frame.dst_ip));
	destinations_unload(&found);
	return ret;
}

/* Read which of the flows are this sender's. */
static int
read_rss(struct gen_config *config, const struct config_section *section)
{
	if (!config_has(section, "rss_queues") && !config_has(section, "rss_queue"))
		return 0;
	if (!(config_require(section, "rss_queues") & config_require(section, "rss_queue")))
		return -EINVAL;
	if (config_u16(section, "rss_queues", &config->rss_queues, 1, RSS_QUEUES_MAX) != 0)
		return -EINVAL;
	return config_u16(section, "rss_queue", &config->rss_queue, 0, config->rss_queues - 1);
}

static int
read_replay(struct gen_config *config, const struct config_section *section)
{
	static const char meaningless[] =
		"has no meaning next to pcap: the file's frames are sent as they are";
	struct pcap_frames pcap;
	struct fault why;
	int ret = config_refuse(section, frame_keys, RTE_DIM(frame_keys), meaningless);

	if (config->content != NULL)
		ret |= config_refuse(section, &config->content->name, 1, meaningless);
	config->pcap = config_string(section, "pcap");
	/* Read here only to find its faults and the largest frame: there is no NUMA node yet. */
	if (pcap_load(&pcap, config->pcap, &why) != 0) {
		config_fault(section, "pcap", "%s", why.text);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < pcap.nb_frames; i++)
		config->largest_bytes =
			RTE_MAX(config->largest_bytes, pcap.frames[i].len + (uint32_t)FCS_BYTES);
	pcap_unload(&pcap);
	return ret;
}

int
gen_config_read(struct gen_config *config, const struct config_section *section)
{
	uint16_t stream = 0;
	int ret = 0;

	*config = defaults;
	ret |= config_u16(section, "stream", &stream, 0, UINT8_MAX);
	config->frame.stream = (uint8_t)stream;
	ret |= config_bool(section, "stamp", &config->frame.stamped);
	ret |= config_bool(section, "autostart", &config->autostart);
	config->content = content_of(section);
	if (config_has(section, "pcap")) {
		ret |= read_replay(config, section);
	} else if (config->content != NULL) {
		ret |= config->content->gen.read(config, section);
		ret |= config_refuse(section, rss_keys, RTE_DIM(rss_keys),
				     "goes with frames made from this section's own keys");
	} else {
		ret |= read_frame(&config->frame, section);
		ret |= read_sizes(config, section);
		if (config_has(section, "destinations")) {
			ret |= read_destinations(config, section);
		} else {
			ret |= read_flows(config, section);
			ret |= read_rss(config, section);
		}
	}
	ret |= gen_load_config(config, section);
	return ret == 0 ? 0 : -EINVAL;
}
