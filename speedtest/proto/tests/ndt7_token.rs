// SPDX-License-Identifier: Apache-2.0
//! Access tokens: signed by a key pair that is made here, then altered in every part.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair, ECDSA_P256_SHA256_FIXED_SIGNING,
    RSA_PKCS1_SHA256,
};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use speedtest_proto::ndt7::token::{verify, Expected, Key, TokenError};

const CLAIMS: &str = r#"{"iss":"locate","aud":["mlab1-here","other"],"exp":2000,"sub":"1"}"#;

fn url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

struct Signer {
    pair: Ed25519KeyPair,
}

impl Signer {
    fn new() -> Signer {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Signer { pair: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap() }
    }

    fn key(&self, id: &str) -> Key {
        let x = url(self.pair.public_key().as_ref());
        let json = format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{id}","x":"{x}"}}"#);
        Key::of_json(&json).unwrap()
    }

    fn token(&self, head: &str, claims: &str) -> String {
        let message = format!("{}.{}", url(head.as_bytes()), url(claims.as_bytes()));
        let signature = self.pair.sign(message.as_bytes());
        format!("{message}.{}", url(signature.as_ref()))
    }
}

fn expected() -> Expected {
    Expected { issuer: "locate".into(), audience: "mlab1-here".into() }
}

const HEAD: &str = r#"{"alg":"EdDSA","kid":"k1"}"#;

#[test]
fn a_good_token_passes_until_it_expires() {
    let signer = Signer::new();
    let keys = [Signer::new().key("k0"), signer.key("k1")];
    let token = signer.token(HEAD, CLAIMS);
    assert_eq!(verify(&keys, &expected(), &token, 1999.0), Ok(()));
    assert_eq!(verify(&keys, &expected(), &token, 2001.0), Err(TokenError::Expired));
    let one = signer.token(HEAD, r#"{"iss":"locate","aud":"mlab1-here","exp":2000}"#);
    assert_eq!(verify(&keys, &expected(), &one, 0.0), Ok(()));
}

#[test]
fn a_token_that_does_not_fit_is_rejected_with_its_error() {
    let signer = Signer::new();
    let keys = [signer.key("k1")];
    let check = |head: &str, claims: &str| {
        verify(&keys, &expected(), &signer.token(head, claims), 1000.0).unwrap_err()
    };
    assert_eq!(check(HEAD, &CLAIMS.replace("2000", "999")), TokenError::Expired);
    assert_eq!(check(HEAD, r#"{"iss":"locate","aud":"mlab1-here"}"#), TokenError::Expired);
    assert_eq!(check(HEAD, &CLAIMS.replace("\"sub\"", "\"nbf\":1500,\"sub\"")), TokenError::NotYet);
    assert_eq!(check(HEAD, &CLAIMS.replace("locate", "me")), TokenError::Issuer("me".into()));
    assert_eq!(check(HEAD, &CLAIMS.replace("mlab1-here", "there")), TokenError::Audience);
    assert_eq!(check(r#"{"alg":"EdDSA","kid":"k2"}"#, CLAIMS), TokenError::UnknownKey("k2".into()));
    assert_eq!(check(r#"{"alg":"none","kid":"k1"}"#, CLAIMS), TokenError::Signature);
    assert_eq!(check(r#"{"alg":"HS256","kid":"k1"}"#, CLAIMS), TokenError::Signature);
    let forged = Signer::new().token(HEAD, CLAIMS);
    assert_eq!(verify(&keys, &expected(), &forged, 0.0), Err(TokenError::Signature));
    for wrong in ["", "a.b", "a.b.c", "..", "e30.e30.!"] {
        assert_eq!(verify(&keys, &expected(), wrong, 0.0), Err(TokenError::Malformed), "{wrong}");
    }
}

#[test]
fn p256_signs_as_well() {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref());
    let pair = pair.unwrap();
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    let json =
        format!(r#"{{"kty":"EC","crv":"P-256","kid":"k1","x":"{}","y":"{}"}}"#, url(x), url(y));
    let message = format!("{}.{}", url(br#"{"alg":"ES256","kid":"k1"}"#), url(CLAIMS.as_bytes()));
    let signature = pair.sign(&random, message.as_bytes()).unwrap();
    let token = format!("{message}.{}", url(signature.as_ref()));
    let keys = [Key::of_json(&json).unwrap()];
    assert_eq!(verify(&keys, &expected(), &token, 0.0), Ok(()));
}

#[test]
fn rsa_signs_as_well() {
    let made = || RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let (pair, other) = (made(), made());
    let key = |pair: &RsaKeyPair| {
        // PKCS #1 in DER: two headers and a zero, the 2048 bits of n, one header, e.
        let der = pair.public_key().as_ref();
        let (n, e) = (url(&der[9..265]), url(&der[267..]));
        Key::of_json(&format!(r#"{{"kty":"RSA","kid":"k1","n":"{n}","e":"{e}"}}"#)).unwrap()
    };
    let signed = |algorithm: &str| {
        let head = format!(r#"{{"alg":"{algorithm}","kid":"k1"}}"#);
        let message = format!("{}.{}", url(head.as_bytes()), url(CLAIMS.as_bytes()));
        let mut signature = vec![0; pair.public_modulus_len()];
        let random = SystemRandom::new();
        pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
        format!("{message}.{}", url(&signature))
    };
    assert_eq!(verify(&[key(&pair)], &expected(), &signed("RS256"), 0.0), Ok(()));
    let forged = verify(&[key(&other)], &expected(), &signed("RS256"), 0.0);
    assert_eq!(forged, Err(TokenError::Signature));
    // The key decides about the algorithm, not the token.
    let renamed = verify(&[key(&pair)], &expected(), &signed("HS256"), 0.0);
    assert_eq!(renamed, Err(TokenError::Signature));
}

#[test]
fn only_public_keys_of_known_kinds_are_loaded() {
    let private = r#"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AA","d":"AA"}"#;
    for (json, words) in [
        (private, "private part"),
        (r#"{"kty":"oct","k":"AA"}"#, "oct"),
        (r#"{"kty":"OKP","crv":"Ed25519"}"#, "x is missing"),
        ("no", "expected"),
    ] {
        let error = Key::of_json(json).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
