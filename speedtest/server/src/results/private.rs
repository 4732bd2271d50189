// SPDX-License-Identifier: Apache-2.0
//! Files with client addresses: only their owner reads them, whatever the umask is.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

const OWNER_ONLY: u32 = 0o600;

/// Open a file for appending. An existing file keeps its permissions.
pub fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(OWNER_ONLY);
    options
}
