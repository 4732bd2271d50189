/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path of gen: from mbufs fresh out of a pool to frames ready to be sent. */
#ifndef WSDP_GEN_FILL_H
#define WSDP_GEN_FILL_H

#include "gen_source.h"

/* The cheapest function that can make this source's frames. */
gen_fill_fn gen_fill_for(const struct gen_source *source);

#endif
