/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic.h"

atomic_uint traffic_generators;
atomic_uint traffic_senders;
