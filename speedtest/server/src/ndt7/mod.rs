// SPDX-License-Identifier: Apache-2.0
//! ndt7 on top of the loops.
//!
//! A request for a subtest leaves its HTTP connection to [`waiting`], which asks for admission and
//! answers it; after the upgrade [`test`] moves the data. [`gate`] checks access tokens, [`outcome`]
//! says what is told at the end.

mod gate;
mod outcome;
mod test;
mod waiting;

pub use gate::Gate;
pub use waiting::{Visitor, Waiting};
