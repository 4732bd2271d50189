// SPDX-License-Identifier: Apache-2.0
//! Connections that move as much as they can, in one direction each, until they are dropped.

use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use h2::client::SendRequest;
use http::Method;
use speedtest_net::bulk::HOT;
use tokio::task::JoinSet;

use super::connect::{fault, piece, Link, Place};
use super::Way;

/// Bytes of one write of an upload; frames are smaller.
const PIECE_BYTES: usize = 64 << 10;

/// Bytes that the load has moved, and its connections.
#[derive(Default)]
pub struct Load {
    down: AtomicU64,
    up: AtomicU64,
    open: Mutex<Vec<SendRequest<Bytes>>>,
}

impl Load {
    pub fn moved(&self, way: Way) -> u64 {
        match way {
            Way::Down => self.down.load(Ordering::Relaxed),
            Way::Up => self.up.load(Ordering::Relaxed),
        }
    }

    /// Return the connections that carry load.
    pub fn open(&self) -> Vec<SendRequest<Bytes>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn opened(&self, link: &Link) {
        let sender = link.sender.clone();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
    }
}

/// Add one connection. Its task ends only with an error.
pub fn add(tasks: &mut JoinSet<io::Error>, load: &Arc<Load>, way: Way, place: &Place) {
    let (load, place) = (Arc::clone(load), place.clone());
    tasks.spawn(async move {
        let error = match way {
            Way::Down => download(&load, &place).await,
            Way::Up => upload(&load, &place).await,
        };
        let direction = if way == Way::Down { "download" } else { "upload" };
        let why = match error {
            Ok(status) => format!("the server ended it with status {status}"),
            Err(error) => error.to_string(),
        };
        io::Error::other(format!("load-generating {direction}: {why}"))
    });
}

async fn download(load: &Load, place: &Place) -> io::Result<u16> {
    let link = Link::open(place).await?;
    loop {
        let request = place.request(Method::GET, place.path())?;
        let mut ready = link.sender.clone().ready().await.map_err(fault)?;
        let (answer, _) = ready.send_request(request, true).map_err(fault)?;
        let answer = answer.await.map_err(fault)?;
        if answer.status() != 200 {
            return Ok(answer.status().as_u16());
        }
        load.opened(&link);
        let mut body = answer.into_body();
        while let Some(piece) = piece(&mut body).await? {
            load.down.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Upload, and count bytes that have left the library; the kernel holds back little more.
async fn upload(load: &Load, place: &Place) -> io::Result<u16> {
    let link = Link::open(place).await?;
    let request = place.request(Method::POST, place.path())?;
    let mut ready = link.sender.clone().ready().await.map_err(fault)?;
    let (mut answer, mut body) = ready.send_request(request, false).map_err(fault)?;
    load.opened(&link);
    let hot = Bytes::from_static(&HOT[..PIECE_BYTES]);
    loop {
        body.reserve_capacity(PIECE_BYTES);
        let room = tokio::select! {
            // A server that refuses the upload answers before the end.
            early = &mut answer => return early.map(|it| it.status().as_u16()).map_err(fault),
            room = poll_fn(|cx| body.poll_capacity(cx)) => room,
        };
        let Some(room) = room.transpose().map_err(fault)? else {
            return answer.await.map(|it| it.status().as_u16()).map_err(fault);
        };
        let now = room.min(PIECE_BYTES);
        body.send_data(hot.slice(..now), false).map_err(fault)?;
        load.up.fetch_add(now as u64, Ordering::Relaxed);
    }
}
