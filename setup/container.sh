#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write FOLDER/wirespeed.oci.tar, an image of this Debian with the packages of FOLDER (*.deb):
# setup/container.sh FOLDER.
set -eu

folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l debian/changelog -S Timestamp)
export SOURCE_DATE_EPOCH
version=$(dpkg-parsechangelog -l debian/changelog -S Version)
# shellcheck disable=SC1091  # the host's own
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# apt-get replaces the $(WORD).
# shellcheck disable=SC2016
for release in "$suite" "$suite-updates" "$suite-security"; do
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' \
		"Release: $release" 'Component: main'
done | sort -u >"$scratch/sources.list"
mkdir "$scratch/own"
cp "$folder"/*.deb "$scratch/own"
(cd "$scratch/own" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
echo "deb [trusted=yes] copy:$scratch/own ./" >>"$scratch/sources.list"

# Compiled Python, caches and the path of our packages differ from run to run.
# shellcheck disable=SC2016  # mmdebstrap sets $1
mmdebstrap --quiet --mode=root --variant=minbase --format=tar \
	--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
	--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--dpkgopt='path-include=/usr/share/doc/wirespeed*/*' \
	--include=wirespeed,wirespeed-speedtest,systemd-standalone-sysusers,libpcap0.8 \
	--customize-hook='chroot "$1" install -d -m 700 -o wirespeed-speedtest /var/lib/wirespeed-speedtest' \
	--customize-hook='rm -rf "$1"/var/log/* "$1"/var/cache/ldconfig/aux-cache "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*' \
	--customize-hook='find "$1"/usr -name __pycache__ -prune -exec rm -r {} +' \
	"$suite" "$scratch/root.tar" "$scratch/sources.list"
python3 setup/oci.py "$scratch/root.tar" "$folder/wirespeed.oci.tar" "wirespeed:$version"
ls -l "$folder/wirespeed.oci.tar"
