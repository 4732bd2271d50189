// SPDX-License-Identifier: Apache-2.0
//! Credentials for an iperf3 server: user, password and time, encrypted with its public key.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rsa::{
    OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey, PublicEncryptingKey, OAEP_SHA1_MGF1SHA1,
};
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::SubjectPublicKeyInfoDer;

/// Environment variable that iperf3 uses too: a flag would show the password to every user of the
/// host.
const PASSWORD: &str = "IPERF3_PASSWORD";

#[derive(clap::Args)]
pub struct Credentials {
    /// User name for an iperf3 server that requires one; the password is in $IPERF3_PASSWORD
    #[arg(long, value_name = "NAME", requires = "rsa_public_key_path")]
    pub username: Option<String>,
    /// Public key of that server, in PEM
    #[arg(long, value_name = "FILE", requires = "username")]
    rsa_public_key_path: Option<PathBuf>,
    /// Use the padding of servers before iperf3 3.17
    #[arg(long, requires = "username")]
    use_pkcs1_padding: bool,
}

/// Credentials with their key loaded.
pub struct Identity {
    user: String,
    password: String,
    key: PublicEncryptingKey,
    pkcs1: bool,
}

impl Credentials {
    /// Load the credentials; None without a user. An error is for the user.
    pub fn identity(&self) -> Result<Option<Identity>, String> {
        let (Some(user), Some(path)) = (&self.username, &self.rsa_public_key_path) else {
            return Ok(None);
        };
        let password = std::env::var(PASSWORD)
            .map_err(|_| format!("--username needs the password in ${PASSWORD}"))?;
        if user.contains('\n') || password.contains('\n') {
            return Err("a user name or password has only one line".into());
        }
        let (user, pkcs1) = (user.clone(), self.use_pkcs1_padding);
        Ok(Some(Identity { user, password, key: public_key(path)?, pkcs1 }))
    }
}

fn public_key(path: &Path) -> Result<PublicEncryptingKey, String> {
    let wrong = |why: String| format!("{}: no public RSA key in PEM: {why}", path.display());
    let der = SubjectPublicKeyInfoDer::from_pem_file(path).map_err(|e| wrong(e.to_string()))?;
    PublicEncryptingKey::from_der(&der).map_err(|error| wrong(error.to_string()))
}

impl Identity {
    /// Make a token that is valid once, for some seconds.
    pub fn token(&self) -> Result<String, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let text = format!("user: {}\npwd:  {}\nts:   {now}", self.user, self.password);
        let failed = |_| "user name and password are too long for the server's key".to_owned();
        let mut cipher = vec![0; self.key.key_size_bytes()];
        let made = if self.pkcs1 {
            let key = Pkcs1PublicEncryptingKey::new(self.key.clone()).map_err(failed)?;
            key.encrypt(text.as_bytes(), &mut cipher).map_err(failed)?.len()
        } else {
            let key = OaepPublicEncryptingKey::new(self.key.clone()).map_err(failed)?;
            let algorithm = &OAEP_SHA1_MGF1SHA1;
            key.encrypt(algorithm, text.as_bytes(), &mut cipher, None).map_err(failed)?.len()
        };
        Ok(STANDARD.encode(&cipher[..made]))
    }
}
