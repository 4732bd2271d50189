#!/bin/bash
# Host s2-r730: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=28 intel_iommu=on iommu=pt isolcpus=managed_irq,2-43,46-87 nohz=on nohz_full=2-43,46-87 rcu_nocbs=2-43,46-87 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot s2-r730 for the new kernel command line.
