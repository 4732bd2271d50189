/* SPDX-License-Identifier: Apache-2.0 */
#include "pppoe.h"

enum bng_verdict
bng_pppoe_judge(const uint8_t *frame, uint32_t len)
{
	uint32_t payload;
	uint16_t type, protocol;

	if (len < BNG_QINQ_LEN)
		return BNG_TRUNCATED;
	if (!bng_is_qinq(frame))
		return BNG_TYPE;
	type = be16_load(frame + 20);
	if (type == ETH_TYPE_PPPOE_DISCOVERY)
		return BNG_CONTROL;
	if (type != ETH_TYPE_PPPOE_SESSION)
		return BNG_TYPE;
	if (len < BNG_PPPOE_IP_AT)
		return BNG_TRUNCATED;
	payload = be16_load(frame + BNG_PPPOE_AT + 4);
	if (be16_load(frame + BNG_PPPOE_AT) != PPPOE_SESSION_CODE || payload < BNG_PPP_LEN)
		return BNG_PPPOE;
	if (payload + BNG_PPPOE_AT + BNG_PPPOE_LEN > len)
		return BNG_TRUNCATED;
	protocol = be16_load(frame + BNG_PPPOE_AT + BNG_PPPOE_LEN);
	if (protocol >= PPP_CONTROL)
		return BNG_CONTROL;
	if (protocol != PPP_IPV4)
		return BNG_TYPE;
	return bng_tunnelled_judge(frame + BNG_PPPOE_IP_AT, payload - BNG_PPP_LEN);
}
