// SPDX-License-Identifier: Apache-2.0
//! ndt7 on top of the loops.
//!
//! A request for a subtest leaves its HTTP connection to [`waiting`], which waits for admission and
//! answers. After the upgrade [`test`] moves the data. [`gate`] checks access tokens, [`outcome`]
//! makes record and verdict.

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

/// State that all tests share.
pub struct Context {
    pub limits: Limits,
    /// Interval between two samples of TCP_INFO.
    pub sample_every: Duration,
    /// Congestion control of tests that do not set one.
    pub congestion: Option<String>,
    /// Check of access tokens.
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
