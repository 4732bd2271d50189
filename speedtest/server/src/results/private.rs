// SPDX-License-Identifier: Apache-2.0
//! Files with addresses of clients: only their owner reads them, whatever the umask is.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

const OWNER_ONLY: u32 = 0o600;

/// Opens a file for appending. One that is here keeps the rights that somebody gave it.
pub fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(OWNER_ONLY);
    options
}
