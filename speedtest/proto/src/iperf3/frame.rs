// SPDX-License-Identifier: Apache-2.0
//! JSON after a 32-bit big-endian length, read in pieces.

use super::ProtocolError;

const LENGTH_BYTES: usize = 4;

/// Collects one frame; never holds more than its limit.
#[derive(Debug)]
pub(super) struct Frame {
    bytes: Vec<u8>,
    most: u32,
}

impl Frame {
    pub fn new(most: u32) -> Frame {
        Frame { bytes: Vec::new(), most }
    }

    fn body_len(&self) -> Option<u32> {
        let length = self.bytes.first_chunk::<LENGTH_BYTES>()?;
        Some(u32::from_be_bytes(*length))
    }

    /// Return how many bytes are missing, as far as known.
    pub fn wants(&self) -> usize {
        match self.body_len() {
            None => LENGTH_BYTES - self.bytes.len(),
            Some(len) => LENGTH_BYTES + len as usize - self.bytes.len(),
        }
    }

    /// Take at most `wants()` bytes; return the body once it is complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<&[u8]>, ProtocolError> {
        self.bytes.extend_from_slice(bytes);
        if let Some(got) = self.body_len().filter(|len| *len > self.most) {
            return Err(ProtocolError::TooLong { got, most: self.most });
        }
        let whole = self.body_len().is_some() && self.wants() == 0;
        Ok(whole.then(|| &self.bytes[LENGTH_BYTES..]))
    }
}

/// Encode a JSON text as a frame.
pub(super) fn encode(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(LENGTH_BYTES + json.len());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(json);
    frame
}
