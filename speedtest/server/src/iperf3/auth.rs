// SPDX-License-Identifier: Apache-2.0
//! iperf3's authentication: user, password and time, encrypted with the server's public RSA key, in
//! base64.
//!
//! On any error the client learns only that it was refused; the log has the reason. Each token is
//! valid for one test.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{digest, SHA256, SHA256_OUTPUT_LEN};
use aws_lc_rs::rsa::{
    OaepPrivateDecryptingKey, Pkcs1PrivateDecryptingKey, PrivateDecryptingKey, OAEP_SHA1_MGF1SHA1,
};
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::PrivateKeyDer;

use crate::config::{AuthFiles, ConfigError, Padding};

type Hash = [u8; SHA256_OUTPUT_LEN];

/// Users of one address.
pub struct Auth {
    oaep: Option<OaepPrivateDecryptingKey>,
    pkcs1: Option<Pkcs1PrivateDecryptingKey>,
    users: HashMap<String, Hash>,
    skew_s: i64,
    /// Used tokens, and the time until which they would be accepted again.
    used: Mutex<HashMap<Hash, i64>>,
}

/// Reason of a refusal, for the log only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("it sent no token")]
    NoToken,
    #[error("its token is not encrypted for this server's key")]
    Undecipherable,
    #[error("its clock differs by more than the threshold")]
    Skew,
    #[error("wrong user or password")]
    Credentials,
    #[error("its token was used before")]
    Replayed,
}

impl Auth {
    /// Read key and users; call it while they may still be read.
    pub fn load(place: &str, files: &AuthFiles) -> Result<Auth, ConfigError> {
        let fault = |key: &str, path: &Path, why: &str| ConfigError {
            place: format!("{place}.{key}"),
            fault: format!("{}: {why}", path.display()),
        };
        let path = &files.rsa_private_key;
        let key = || private_key(path).map_err(|why| fault("rsa_private_key", path, &why));
        let unusable = |_| fault("rsa_private_key", path, "not usable for decryption");
        let (oaep, pkcs1) = match files.padding {
            Padding::Any => (true, true),
            Padding::Oaep => (true, false),
            Padding::Pkcs1 => (false, true),
        };
        let path = &files.authorized_users;
        let users = std::fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| users(&text))
            .map_err(|why| fault("authorized_users", path, &why))?;
        Ok(Auth {
            oaep: oaep
                .then(|| OaepPrivateDecryptingKey::new(key()?).map_err(unusable))
                .transpose()?,
            pkcs1: pkcs1
                .then(|| Pkcs1PrivateDecryptingKey::new(key()?).map_err(unusable))
                .transpose()?,
            users,
            skew_s: i64::from(files.time_skew_s),
            used: Mutex::default(),
        })
    }

    /// Return the name of the user; `now` is in seconds since 1970.
    pub fn user(&self, token: Option<&str>, now: i64) -> Result<String, Denied> {
        let token = token.ok_or(Denied::NoToken)?;
        let plain = self.decrypt(token).ok_or(Denied::Undecipherable)?;
        let (user, password, time) = credentials(&plain).ok_or(Denied::Undecipherable)?;
        // An unknown user takes the same time as a wrong password.
        let known = self.users.get(user);
        let hash = sha256(format!("{{{user}}}{password}").as_bytes());
        let same = verify_slices_are_equal(known.unwrap_or(&[0; SHA256_OUTPUT_LEN]), &hash).is_ok();
        if !same || known.is_none() {
            return Err(Denied::Credentials);
        }
        if now.abs_diff(time) > self.skew_s.unsigned_abs() {
            return Err(Denied::Skew);
        }
        self.use_once(sha256(token.as_bytes()), now, time)?;
        Ok(user.to_owned())
    }

    fn decrypt(&self, token: &str) -> Option<String> {
        let cipher = STANDARD.decode(token).ok()?;
        let oaep = self.oaep.as_ref().and_then(|key| {
            let mut plain = vec![0; key.min_output_size()];
            let plain = key.decrypt(&OAEP_SHA1_MGF1SHA1, &cipher, &mut plain, None).ok()?;
            String::from_utf8(plain.to_vec()).ok()
        });
        oaep.or_else(|| {
            let key = self.pkcs1.as_ref()?;
            let mut plain = vec![0; key.min_output_size()];
            String::from_utf8(key.decrypt(&cipher, &mut plain).ok()?.to_vec()).ok()
        })
    }

    /// Record a token as used. Only users' tokens are kept, and only as long as they are valid.
    fn use_once(&self, token: Hash, now: i64, time: i64) -> Result<(), Denied> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, until| *until >= now);
        match used.insert(token, time.saturating_add(self.skew_s)) {
            None => Ok(()),
            Some(_) => Err(Denied::Replayed),
        }
    }
}

fn sha256(bytes: &[u8]) -> Hash {
    let mut hash = [0; SHA256_OUTPUT_LEN];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

/// Split the content of a token: three lines, in this order.
fn credentials(plain: &str) -> Option<(&str, &str, i64)> {
    let mut lines = plain.split('\n');
    let mut value = |key: &str| Some(lines.next()?.strip_prefix(key)?.trim_start());
    let (user, password, time) = (value("user:")?, value("pwd:")?, value("ts:")?);
    Some((user, password, time.trim_end_matches('\0').trim_end().parse().ok()?))
}

/// Read lines of `user,SHA256`; the hash is that of `{user}password`, as in iperf3.
fn users(text: &str) -> Result<HashMap<String, Hash>, String> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let user = |line: &str| {
        let (name, hash) = line.split_once(',')?;
        let name = Some(name.trim()).filter(|name| !name.is_empty())?;
        Some((name.to_owned(), unhex(hash.trim())?))
    };
    let mut users = HashMap::new();
    for (index, line) in lines {
        let (name, hash) = user(line)
            .ok_or_else(|| format!("line {}: expected USER,SHA256 in 64 hex digits", index + 1))?;
        users.insert(name, hash);
    }
    if users.is_empty() {
        return Err("no users; expected lines of USER,SHA256".into());
    }
    Ok(users)
}

fn unhex(text: &str) -> Option<Hash> {
    if text.len() != 2 * SHA256_OUTPUT_LEN || !text.is_ascii() {
        return None;
    }
    let mut hash = [0; SHA256_OUTPUT_LEN];
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(hash)
}

/// Read a PEM key without a password, of either type that OpenSSL writes.
fn private_key(path: &Path) -> Result<PrivateDecryptingKey, String> {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    let wrong = "no RSA key in PEM without a password";
    let pkcs8 = match PrivateKeyDer::from_pem_slice(&pem).map_err(|_| wrong)? {
        PrivateKeyDer::Pkcs8(der) => der.secret_pkcs8_der().to_vec(),
        PrivateKeyDer::Pkcs1(der) => pkcs8_of(der.secret_pkcs1_der()),
        _ => return Err(wrong.into()),
    };
    PrivateDecryptingKey::from_pkcs8(&pkcs8).map_err(|error| format!("{wrong}: {error}"))
}

/// Wrap a key by RFC 5958: version 0, algorithm rsaEncryption, the key by RFC 8017.
fn pkcs8_of(pkcs1: &[u8]) -> Vec<u8> {
    const VERSION: [u8; 3] = [2, 1, 0];
    const RSA: [u8; 15] = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let key = der(4, pkcs1);
    der(0x30, &[&VERSION[..], &RSA[..], &key[..]].concat())
}

/// Encode tag, length, value.
fn der(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = value.len().to_be_bytes();
    let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    let mut out = vec![tag];
    match value.len() {
        short @ 0..0x80 => out.push(short as u8),
        _ => {
            out.push(0x80 | length.len() as u8);
            out.extend_from_slice(length);
        }
    }
    out.extend_from_slice(value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rsa::{
        KeySize, OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey, PublicEncryptingKey,
    };

    const NOW: i64 = 1_700_000_000;

    fn auth() -> (Auth, PublicEncryptingKey) {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let public = key.public_key();
        let hash = sha256(b"{mia}secret");
        let auth = Auth {
            oaep: Some(OaepPrivateDecryptingKey::new(key.clone()).unwrap()),
            pkcs1: Some(Pkcs1PrivateDecryptingKey::new(key).unwrap()),
            users: HashMap::from([("mia".to_owned(), hash)]),
            skew_s: 10,
            used: Mutex::default(),
        };
        (auth, public)
    }

    fn token(key: &PublicEncryptingKey, user: &str, password: &str, time: i64) -> String {
        let text = format!("user: {user}\npwd:  {password}\nts:   {time}");
        let key = Pkcs1PublicEncryptingKey::new(key.clone()).unwrap();
        let mut cipher = vec![0; key.ciphertext_size()];
        STANDARD.encode(key.encrypt(text.as_bytes(), &mut cipher).unwrap())
    }

    #[test]
    fn only_a_user_with_the_right_password_and_time_is_let_in_and_only_once() {
        let (auth, key) = auth();
        let good = token(&key, "mia", "secret", NOW - 10);
        assert_eq!(auth.user(Some(&good), NOW), Ok("mia".to_owned()));
        assert_eq!(auth.user(Some(&good), NOW), Err(Denied::Replayed));
        let denied =
            |user, password, time| auth.user(Some(&token(&key, user, password, time)), NOW);
        assert_eq!(denied("mia", "Secret", NOW), Err(Denied::Credentials));
        assert_eq!(denied("eve", "secret", NOW), Err(Denied::Credentials));
        assert_eq!(denied("mia", "secret", NOW - 11), Err(Denied::Skew));
        assert_eq!(denied("mia", "secret", NOW + 11), Err(Denied::Skew));
        assert_eq!(denied("mia", "secret", i64::MIN), Err(Denied::Skew));
        assert_eq!(auth.user(None, NOW), Err(Denied::NoToken));
        for nonsense in ["", "AAAA", "!!!!", &good[4..]] {
            assert_eq!(auth.user(Some(nonsense), NOW), Err(Denied::Undecipherable));
        }
        assert_eq!(
            auth.user(Some(&token(&key, "mia", "secret", NOW + 25)), NOW + 30).as_deref(),
            Ok("mia")
        );
        assert_eq!(auth.used.lock().unwrap().len(), 1, "old tokens are kept for ever");
    }

    #[test]
    fn newer_clients_pad_with_oaep_and_a_padding_can_be_forbidden() {
        let (mut auth, key) = auth();
        let oaep = OaepPublicEncryptingKey::new(key.clone()).unwrap();
        let mut cipher = vec![0; oaep.ciphertext_size()];
        let text = format!("user: mia\npwd:  secret\nts:   {NOW}");
        let cipher = oaep.encrypt(&OAEP_SHA1_MGF1SHA1, text.as_bytes(), &mut cipher, None).unwrap();
        assert_eq!(auth.user(Some(&STANDARD.encode(cipher)), NOW), Ok("mia".to_owned()));
        auth.pkcs1 = None;
        let old = token(&key, "mia", "secret", NOW);
        assert_eq!(auth.user(Some(&old), NOW), Err(Denied::Undecipherable));
    }

    #[test]
    fn a_line_that_is_no_user_is_named() {
        let hash = "ab".repeat(32);
        assert_eq!(users(&format!("# who\n\nmia,{hash}\n")).unwrap().len(), 1);
        for text in ["mia", "mia,abc", &format!(",{hash}"), &format!("mia,{}", "zz".repeat(32))] {
            assert!(
                users(&format!("# who\n{text}\n")).unwrap_err().starts_with("line 2"),
                "{text}"
            );
        }
        assert!(users("# nobody\n").is_err());
    }
}
