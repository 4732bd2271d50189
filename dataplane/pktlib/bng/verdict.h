/* SPDX-License-Identifier: Apache-2.0 */
/* Fate of a frame, and the name under which it is counted. */
#ifndef PKTLIB_BNG_VERDICT_H
#define PKTLIB_BNG_VERDICT_H

enum bng_verdict {
	BNG_FORWARD,

	/* Dropped: no forwarder may pass these on. */
	BNG_TRUNCATED, /* shorter than its headers say */
	BNG_TYPE,      /* not of the encapsulation that belongs on this side */
	BNG_IP_HEADER, /* version, header length or total length make no sense */
	BNG_CHECKSUM,  /* of an IPv4 header */
	BNG_GRE,       /* proto 47, but not GRE with a key and IPv4 inside */
	BNG_PPPOE,     /* PPPoE of another version, or a session's frame that is none */
	BNG_FOREIGN,   /* the tunnel ends at another gateway */
	BNG_BUFFER,    /* no headroom, or headers or padding spread over several segments */

	/* Dropped: a table has no entry. */
	BNG_NO_USER,    /* of these tags or this key */
	BNG_NO_HOST,    /* the subscriber has no host of this address */
	BNG_NO_SESSION, /* the subscriber's PPPoE session is another one */
	BNG_NO_ROUTE,   /* for this destination */

	/* For the slow path. */
	BNG_FRAGMENT,
	BNG_OPTIONS,
	BNG_TTL,
	BNG_CONTROL, /* PPPoE discovery, PPP control protocols */
	BNG_LOCAL,   /* for the gateway itself */

	/* Consumed. */
	BNG_ARP,

	BNG_VERDICTS
};

/* The name of its counter: "no_route". */
const char *bng_verdict_name(enum bng_verdict verdict);

static inline int
bng_is_for_slow_path(enum bng_verdict verdict)
{
	return verdict >= BNG_FRAGMENT && verdict <= BNG_LOCAL;
}

#endif
