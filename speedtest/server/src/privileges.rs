// SPDX-License-Identifier: Apache-2.0
//! Drops root privileges once the sockets are bound.

use std::io;
use std::path::Path;

use speedtest_net::{rights, sys};

use crate::config::ConfigError;

/// User that the server runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
}

/// Find `NAME` in /etc/passwd, or take `UID:GID`. A static binary has no NSS, so names that only
/// LDAP knows must be given as numbers.
pub fn find(user: &str) -> Result<Account, ConfigError> {
    let passwd = std::fs::read_to_string(Path::new("/etc/passwd")).unwrap_or_default();
    find_in(user, &passwd).map_err(|fault| ConfigError { place: "server.user".into(), fault })
}

fn find_in(user: &str, passwd: &str) -> Result<Account, String> {
    let account = match user.split_once(':') {
        Some((uid, gid)) => account(uid, gid),
        None => passwd
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.first() == Some(&user))
            .and_then(|fields| account(fields.get(2)?, fields.get(3)?)),
    };
    let account = account.ok_or_else(|| {
        format!("{user:?} is not in /etc/passwd; give a NAME that is, or UID:GID")
    })?;
    if account.uid == 0 || account.gid == 0 {
        return Err(format!("{user:?} is root or in its group; give a user without rights"));
    }
    Ok(account)
}

fn account(uid: &str, gid: &str) -> Option<Account> {
    Some(Account { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
}

/// Become this user permanently. It fails, and the server must not start, unless every privilege is
/// gone.
pub fn become_user(account: Account) -> io::Result<()> {
    if sys::user_id() == account.uid && sys::user_id() != 0 {
        return Ok(());
    }
    sys::set_user(account.uid, account.gid)?;
    if sys::set_user(0, 0).is_ok() {
        return Err(io::Error::other("root's rights could be regained"));
    }
    if rights::has_capabilities()? {
        return Err(io::Error::other("capabilities are left"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nbroken:x\n";

    #[test]
    fn users_are_found_by_name_or_number_and_root_is_none() {
        let nobody = Account { uid: 65534, gid: 65534 };
        assert_eq!(find_in("nobody", PASSWD), Ok(nobody));
        assert_eq!(find_in("7:8", PASSWD), Ok(Account { uid: 7, gid: 8 }));
        for user in ["root", "0:0", "5:0", "absent", "broken", "nobody:", ""] {
            assert!(find_in(user, PASSWD).is_err(), "{user}");
        }
    }
}
