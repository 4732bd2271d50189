// SPDX-License-Identifier: Apache-2.0
//! Certificates that the client trusts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};

/// Files in which distributions keep the system's certificate authorities.
const SYSTEM: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// Settings of a TLS handshake.
#[derive(Clone)]
pub struct Trust {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

impl Trust {
    /// Trust the authorities in this file of PEM certificates; without one, those of the system. An
    /// error is for the user.
    pub fn load(file: Option<&Path>, name: &str) -> Result<Trust, String> {
        let found = || SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
        let path = file.map(Path::to_path_buf).or_else(found).ok_or_else(|| {
            "the system has no file of certificate authorities; give --ca FILE".to_owned()
        })?;
        let option = if file.is_some() { "--ca " } else { "" };
        let wrong = |error: String| format!("{option}{}: {error}", path.display());
        let mut roots = RootCertStore::empty();
        let certificates =
            CertificateDer::pem_file_iter(&path).map_err(|e| wrong(e.to_string()))?;
        for certificate in certificates {
            // rustls does not trust an authority that it cannot use.
            let _ = roots.add(certificate.map_err(|error| wrong(error.to_string()))?);
        }
        if roots.is_empty() {
            return Err(wrong("holds no certificate that can be used".into()));
        }
        let mut config =
            ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Trust {
            config: Arc::new(config),
            name: server_name(name).map_err(|e| format!("{name}: {e}"))?,
        })
    }

    /// Offer this protocol alone.
    pub fn speak(&mut self, protocol: &[u8]) {
        Arc::make_mut(&mut self.config).alpn_protocols = vec![protocol.to_vec()];
    }

    /// Expect the certificate of another server.
    pub fn rename(&mut self, name: &str) -> io::Result<()> {
        self.name = server_name(name)?;
        Ok(())
    }
}

/// Describe why a TLS handshake failed, and the user's next step.
pub fn broken_handshake(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
    let advice = if cause == Some(&unknown) { "; give its authority with --ca" } else { "" };
    format!("TLS: {error}{advice}")
}

fn server_name(name: &str) -> io::Result<ServerName<'static>> {
    ServerName::try_from(name.to_owned()).map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_authorities_is_named_with_its_option() {
        for file in ["nope.pem", "Cargo.toml"] {
            let why = Trust::load(Some(Path::new(file)), "host.test").err().unwrap_or_default();
            assert!(why.starts_with(&format!("--ca {file}: ")), "{why}");
        }
    }

    #[test]
    fn an_unknown_authority_comes_with_advice() {
        for (fault, advised) in
            [(CertificateError::UnknownIssuer, true), (CertificateError::Expired, false)]
        {
            let error = io::Error::other(rustls::Error::InvalidCertificate(fault));
            assert_eq!(broken_handshake(&error).ends_with("with --ca"), advised);
        }
    }
}
