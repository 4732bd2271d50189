# SPDX-License-Identifier: Apache-2.0
"""Collect what the guests of a point boot from: the plan's XML, the built image, KVM or none."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from wirespeed.bench.guest.interface import GuestImage, Guests
from wirespeed.bench.guest.libvirt import check_programs
from wirespeed.image import recipes
from wirespeed.image.accelerator import accelerator
from wirespeed.image.cache import ImageCache, images_directory
from wirespeed.image.errors import ImageError
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.remote.interface import Runner
from wirespeed.remote.state import state_directory


@dataclass
class GuestSource:
    """Source of guests on one host. What all points share is determined once, on first use."""

    runner: Runner
    _found: tuple[GuestImage, str | None] | None = field(default=None, init=False)

    def guests_of(self, plan: Plan) -> Guests | None:
        """Return what guests start from; None where the plan has no virtual machines.

        Raises BenchError where the host lacks a program, ImageError where the image is not built.
        """
        domains = bench_domains(plan)
        if not domains:
            return None
        if self._found is None:
            check_programs(self.runner)
            image, state = self.find_image(), state_directory(os.environ)
            found = accelerator(self.runner, image.kernel, image.initrd, state)
            self._found = image, found.because if found.emulated else None
        image, no_kvm = self._found
        return Guests(domains, image, no_kvm)

    def find_image(self) -> GuestImage:
        """Return the image that guests boot from. Raises ImageError where it is not built."""
        cache = ImageCache(images_directory(os.environ), self.runner)
        image = cache.find(recipes.guest(self.runner))
        if image is None:
            raise ImageError(
                f"the guests' image is not built, or not of these programs: looked in "
                f"{cache.folder}",
                "Run `make guest-image`.",
            )
        return GuestImage(str(image.kernel), str(image.initramfs), str(image.root))
