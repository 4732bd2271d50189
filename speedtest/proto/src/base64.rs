// SPDX-License-Identifier: Apache-2.0
//! Base64 of RFC 4648, both alphabets, strict: WebSocket keys and JSON web tokens are made of it.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// With padding, in the standard alphabet.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..three.len()].copy_from_slice(three);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            if place <= three.len() {
                text.push(STANDARD[(bits >> (18 - 6 * place) & 63) as usize] as char);
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// The standard alphabet with padding; none when anything is wrong.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 != 0 || text.contains(['-', '_']) {
        return None;
    }
    let bare = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    decode_bare(bare)
}

/// The URL alphabet without padding (RFC 7515, section 2).
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    (!text.contains(['+', '/'])).then(|| decode_bare(text)).flatten()
}

fn decode_bare(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for four in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for letter in four {
            bits = bits << 6 | value(*letter)?;
        }
        let rest = (4 - four.len()) * 6;
        let group = (bits << rest).to_be_bytes();
        let count = four.len().checked_sub(1).filter(|count| *count > 0)?;
        bytes.extend_from_slice(&group[1..=count]);
        if group[1 + count..].iter().any(|byte| *byte != 0) {
            // Bits that belong to no byte: two texts would mean the same bytes.
            return None;
        }
    }
    Some(bytes)
}

fn value(letter: u8) -> Option<u32> {
    Some(match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfcs_own_vectors_go_both_ways() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, text) in vectors {
            assert_eq!(encode(plain.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(plain.as_bytes()));
            assert_eq!(decode_url(text.trim_end_matches('=')).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(decode_url("-_8").as_deref(), Some([0xfb, 0xff].as_slice()));
    }

    #[test]
    fn only_one_text_means_some_bytes() {
        for wrong in ["Zg", "Zh==", "Zg=", "Z===", "Zm9v!A==", "-_8="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        for wrong in ["Zg==", "Zh", "Z", "+/8"] {
            assert_eq!(decode_url(wrong), None, "{wrong}");
        }
    }
}
