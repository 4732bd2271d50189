#!/bin/bash
# Nodes of pool nfv: the label by which every other file selects them.
set -euo pipefail
"${KUBECTL:-kubectl}" label node s2-r730 node-role.kubernetes.io/nfv= --overwrite
