// SPDX-License-Identifier: Apache-2.0
//! ndt7 on top of the loops.
//!
//! A request for a subtest leaves its HTTP connection to [`waiting`], which waits for admission and
//! answers; after the upgrade [`test`] moves the data. [`gate`] checks access tokens, [`outcome`] makes
//! record and verdict.

mod gate;
mod outcome;
mod test;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Accounts;
use crate::admission::Admission;
use crate::config::{Kernel, Limits};
use crate::counters::Counters;
use crate::log::Logger;
use crate::other_load::OtherLoadMeter;
use crate::results::Keeper;
use crate::transfers::Transfers;

pub use gate::Gate;
pub use waiting::{PendingConnection, Waiting};

/// What all tests share.
pub struct Context {
    pub limits: Limits,
    /// Between two samples of TCP_INFO.
    pub sample_every: Duration,
    /// For tests that do not ask for one.
    pub congestion: Option<String>,
    /// Which clients may test.
    pub gate: Gate,
    pub kernel: Kernel,
    pub log: Logger,
    pub counters: Arc<Counters>,
    pub admission: Arc<Admission>,
    pub accounts: Arc<Accounts>,
    pub keeper: Arc<Keeper>,
    pub other_load: Arc<OtherLoadMeter>,
    pub transfers: Arc<Transfers>,
}
