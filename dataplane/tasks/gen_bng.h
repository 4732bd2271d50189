/* SPDX-License-Identifier: Apache-2.0 */
/* gen's frames for a BNG under test: docs/reference/bng.md, "Test traffic". */
#ifndef WSDP_GEN_BNG_H
#define WSDP_GEN_BNG_H

#include "gen_source.h"

/* Returns 0 or a negative errno, with the reason on stderr. */
int
gen_bng_open(struct gen_source *source, const struct gen_config *config, const struct task *task);
void gen_bng_close(struct gen_bng *bng);
void gen_bng_rewind(struct gen_bng *bng);

#endif
