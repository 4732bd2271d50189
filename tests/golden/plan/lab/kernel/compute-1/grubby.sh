#!/bin/bash
# Host compute-1: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=12 hugepagesz=2M hugepages=4096 intel_iommu=on iommu=pt isolcpus=2-3,6-35,38-39,42-71 nohz=on nohz_full=2-3,6-35,38-39,42-71 rcu_nocbs=2-3,6-35,38-39,42-71 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot compute-1 for the new kernel command line.
