/* SPDX-License-Identifier: Apache-2.0 */
/* bng_slowpath: the gate to whoever handles what the gateway's fast path does not: fragments, IP
 * options, TTL expiry, PPPoE control, and packets to the gateway itself (ICMP). Counts them by cause
 * and lets no more through than that host can bear: nobody can drown it with exceptions. Frames
 * pass unchanged; what is no exception is dropped. */
#include <errno.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "bng_worker.h"
#include "core/config.h"
#include "core/telemetry.h"
#include "core/tsc.h"
#include "pktlib/bng/pppoe.h"
#include "pktlib/token_bucket.h"

#define BURST_MAX 65536

struct bng_slowpath {
	struct token_bucket bucket;
	uint64_t verdicts[BNG_VERDICTS];
	uint64_t over_rate;
	uint32_t rate_fps, burst;
	uint32_t local_ip;
};

static int
bng_slowpath_init(struct task *task, const struct config_section *section)
{
	struct bng_slowpath *slow = task->priv;
	int ret = 0;

	slow->rate_fps = 10000;
	slow->burst = 256;
	ret |= config_u32(section, "rate_fps", &slow->rate_fps, 0, UINT32_MAX);
	ret |= config_u32(section, "burst", &slow->burst, 1, BURST_MAX);
	ret |= bng_config_ipv4(section, "local_ip", &slow->local_ip);
	if (!config_require(section, "local_ip"))
		ret = -1;
	return ret == 0 ? 0 : -EINVAL;
}

static int
bng_slowpath_prepare(struct task *task)
{
	struct bng_slowpath *slow = task->priv;

	token_bucket_init(&slow->bucket, tsc_hz(), slow->rate_fps, slow->burst, rte_rdtsc());
	return 0;
}

/* Return why the fast path did not take the frame, which shows it as it did to the worker. A frame
 * that looks fit for the fast path was for an address of the gateway. */
static enum bng_verdict
cause_of(const struct bng_slowpath *slow, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	enum bng_verdict verdict;

	if (mbuf->nb_segs > 1)
		return BNG_BUFFER;
	if (mbuf->data_len < BNG_QINQ_LEN)
		return BNG_TRUNCATED;
	if (!bng_is_qinq(frame))
		verdict = bng_down_judge(frame, mbuf->data_len, slow->local_ip);
	else if (be16_load(frame + 20) == ETH_TYPE_IPV4)
		verdict = bng_up_judge(frame, mbuf->data_len);
	else
		verdict = bng_pppoe_judge(frame, mbuf->data_len);
	return verdict == BNG_FORWARD ? BNG_LOCAL : verdict;
}

static void
bng_slowpath_handle(struct task *task, struct rte_mbuf **mbufs, uint16_t n)
{
	struct bng_slowpath *slow = task->priv;
	struct rte_mbuf *dropped[TASK_BURST];
	uint16_t nb_dropped = 0, left = 0;
	uint64_t now = rte_rdtsc();

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		enum bng_verdict verdict = cause_of(slow, mbufs[i]);
		bool passes = bng_is_for_slow_path(verdict);

		slow->verdicts[verdict]++;
		if (passes && !token_bucket_ready(&slow->bucket, now)) {
			slow->over_rate++;
			passes = false;
		}
		if (!passes) {
			dropped[nb_dropped++] = mbufs[i];
			continue;
		}
		token_bucket_take(&slow->bucket, now);
		mbufs[left++] = mbufs[i];
	}
	if (left > 0)
		task_send(task, 0, mbufs, left);
	if (nb_dropped > 0)
		task_discard(task, dropped, nb_dropped);
}

static void
bng_slowpath_stats(const struct task *task, struct telemetry_out *out)
{
	const struct bng_slowpath *slow = task->priv;

	for (enum bng_verdict verdict = BNG_TRUNCATED; verdict < BNG_VERDICTS; verdict++)
		telemetry_u64(out, bng_verdict_name(verdict), slow->verdicts[verdict]);
	telemetry_u64(out, "over_rate", slow->over_rate);
}

static void
bng_slowpath_reset(struct task *task)
{
	struct bng_slowpath *slow = task->priv;

	memset(slow->verdicts, 0, sizeof(slow->verdicts));
	slow->over_rate = 0;
}

static const struct task_ops bng_slowpath = {
	.name = "bng_slowpath",
	.private_size = sizeof(struct bng_slowpath),
	.takes_input = true,
	.max_out = 1,
	.init = bng_slowpath_init,
	.prepare = bng_slowpath_prepare,
	.handle = bng_slowpath_handle,
	.stats = bng_slowpath_stats,
	.reset = bng_slowpath_reset,
};

TASK_REGISTER(bng_slowpath)
