#!/bin/bash
# Host s3-r740xd: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=32 intel_iommu=on iommu=pt isolcpus=managed_irq,2-35,38-71 nohz=on nohz_full=2-35,38-71 rcu_nocbs=2-35,38-71 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot s3-r740xd for the new kernel command line.
