// SPDX-License-Identifier: Apache-2.0
//! M-Lab's access tokens: JSON web tokens (RFC 7519) signed with a key that the operator trusts.

use aws_lc_rs::signature::{
    RsaPublicKeyComponents, UnparsedPublicKey, ECDSA_P256_SHA256_FIXED, ED25519,
    RSA_PKCS1_2048_8192_SHA256,
};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use serde::Deserialize;

/// A public JSON web key (RFC 7517): Ed25519, P-256 or RSA.
#[derive(Debug, Clone)]
pub struct Key {
    id: String,
    public: Public,
}

#[derive(Debug, Clone)]
enum Public {
    Ed25519(Vec<u8>),
    P256(Vec<u8>),
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("is not a public JSON web key of Ed25519, P-256 or RSA: {0}")]
    Key(String),
    #[error("the access token is not a signed JSON web token")]
    Malformed,
    #[error("the access token names a key that is not configured: {0:?}")]
    UnknownKey(String),
    #[error("the access token is not signed by its key")]
    Signature,
    #[error("the access token has expired or has no time of expiry")]
    Expired,
    #[error("the access token is not valid yet")]
    NotYet,
    #[error("the access token was issued by {0:?}")]
    Issuer(String),
    #[error("the access token is for another server")]
    Audience,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    kid: String,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
    d: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    #[serde(default)]
    kid: String,
}

#[derive(Deserialize)]
struct Claims {
    iss: Option<String>,
    aud: Option<Audience>,
    exp: Option<f64>,
    nbf: Option<f64>,
    iat: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Decode base64 for URLs without padding (RFC 7515, section 2).
fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

impl Key {
    pub fn of_json(text: &str) -> Result<Key, TokenError> {
        let jwk: Jwk =
            serde_json::from_str(text).map_err(|error| TokenError::Key(error.to_string()))?;
        if jwk.d.is_some() {
            return Err(TokenError::Key("it holds the private part (d)".into()));
        }
        let part = |text: &Option<String>, name: &str| {
            let bytes = text.as_deref().and_then(decoded);
            bytes.ok_or_else(|| TokenError::Key(format!("{name} is missing or not base64url")))
        };
        let public = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("OKP", Some("Ed25519")) => Public::Ed25519(part(&jwk.x, "x")?),
            ("EC", Some("P-256")) => {
                // Uncompressed point (SEC 1, 2.3.3).
                Public::P256([vec![4], part(&jwk.x, "x")?, part(&jwk.y, "y")?].concat())
            }
            ("RSA", _) => Public::Rsa { modulus: part(&jwk.n, "n")?, exponent: part(&jwk.e, "e")? },
            (kty, crv) => return Err(TokenError::Key(format!("kty {kty:?}, crv {crv:?}"))),
        };
        Ok(Key { id: jwk.kid, public })
    }

    /// Return whether the signature is valid. The token's algorithm must be that of the key,
    /// whatever its header says.
    fn verifies(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (&self.public, algorithm) {
            (Public::Ed25519(key), "EdDSA") => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature)
            }
            (Public::P256(key), "ES256") => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(message, signature)
            }
            (Public::Rsa { modulus, exponent }, "RS256") => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
            _ => return false,
        };
        verified.is_ok()
    }
}

/// Claims that a token must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub issuer: String,
    pub audience: String,
}

/// Check that this token is valid at this moment, in seconds since 1970.
pub fn verify(keys: &[Key], expected: &Expected, token: &str, now: f64) -> Result<(), TokenError> {
    let malformed = || TokenError::Malformed;
    let (message, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
    let (head, claims) = message.split_once('.').ok_or_else(malformed)?;
    let [head, claims, signature] = [head, claims, signature].map(decoded);
    let (Some(head), Some(claims), Some(signature)) = (head, claims, signature) else {
        return Err(TokenError::Malformed);
    };
    let head: Head = serde_json::from_slice(&head).map_err(|_| TokenError::Malformed)?;
    let key = keys.iter().find(|key| key.id == head.kid);
    let key = key.ok_or(TokenError::UnknownKey(head.kid))?;
    if !key.verifies(&head.alg, message.as_bytes(), &signature) {
        return Err(TokenError::Signature);
    }
    let claims: Claims = serde_json::from_slice(&claims).map_err(|_| TokenError::Malformed)?;
    if claims.exp.is_none_or(|end| end < now) {
        return Err(TokenError::Expired);
    }
    if claims.nbf.into_iter().chain(claims.iat).any(|begin| begin > now) {
        return Err(TokenError::NotYet);
    }
    if claims.iss.as_deref() != Some(&expected.issuer) {
        return Err(TokenError::Issuer(claims.iss.unwrap_or_default()));
    }
    let meant = match &claims.aud {
        Some(Audience::One(one)) => *one == expected.audience,
        Some(Audience::Many(many)) => many.contains(&expected.audience),
        None => false,
    };
    if meant {
        Ok(())
    } else {
        Err(TokenError::Audience)
    }
}
