// SPDX-License-Identifier: Apache-2.0
//! Whose certificates does the client believe?

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

/// Where distributions keep the authorities that everybody believes.
const SYSTEM: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// What a TLS handshake needs to know.
#[derive(Clone)]
pub struct Trust {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

impl Trust {
    /// Believes the authorities in this file of PEM certificates; without one, those of the system.
    pub fn load(file: Option<&Path>, name: &str) -> io::Result<Trust> {
        let found = || SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
        let path = file.map(Path::to_path_buf).or_else(found).ok_or_else(|| {
            io::Error::other("the system has no file of certificate authorities; give --ca FILE")
        })?;
        let wrong = |error: String| io::Error::other(format!("{}: {error}", path.display()));
        let mut roots = RootCertStore::empty();
        let certificates =
            CertificateDer::pem_file_iter(&path).map_err(|e| wrong(e.to_string()))?;
        for certificate in certificates {
            // An authority that rustls cannot use is one that it will not believe.
            let _ = roots.add(certificate.map_err(|error| wrong(error.to_string()))?);
        }
        if roots.is_empty() {
            return Err(wrong("holds no certificate that can be used".into()));
        }
        let mut config =
            ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Trust { config: Arc::new(config), name: server_name(name)? })
    }

    /// Offers this protocol alone.
    pub fn speak(&mut self, protocol: &[u8]) {
        Arc::make_mut(&mut self.config).alpn_protocols = vec![protocol.to_vec()];
    }

    /// Expects the certificate of another server.
    pub fn rename(&mut self, name: &str) -> io::Result<()> {
        self.name = server_name(name)?;
        Ok(())
    }
}

fn server_name(name: &str) -> io::Result<ServerName<'static>> {
    ServerName::try_from(name.to_owned()).map_err(|error| io::Error::other(error.to_string()))
}
