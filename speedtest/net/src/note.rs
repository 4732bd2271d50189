// SPDX-License-Identifier: Apache-2.0
//! Message to a handler. The loops carry it without knowing its type; the handlers that exchange it
//! do.

use std::any::Any;

/// One word for a handler.
#[derive(Debug)]
pub struct Note(Box<dyn Any + Send>);

impl Note {
    pub fn of<W: Copy + Send + 'static>(word: W) -> Note {
        Note(Box::new(word))
    }

    /// Return the word if it has this type; a handler ignores other words.
    pub fn word<W: Copy + 'static>(&self) -> Option<W> {
        self.0.downcast_ref().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Order {
        Stop(u64),
    }

    #[test]
    fn a_word_is_only_read_as_what_it_is() {
        let note = Note::of(Order::Stop(7));
        assert_eq!(note.word(), Some(Order::Stop(7)));
        assert_eq!(note.word::<u64>(), None);
    }
}
