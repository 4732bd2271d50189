#!/bin/bash
# Host s0-compute: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=20 intel_iommu=on iommu=pt isolcpus=1-19,21-39 nohz=on nohz_full=1-19,21-39 rcu_nocbs=1-19,21-39 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot s0-compute for the new kernel command line.
