// SPDX-License-Identifier: Apache-2.0
//! Upload servers on tokio for the benchmarks to compare with, not for use.
//!
//! `speedtest-baseline [--loop-a-core] KIND=ADDRESS...` serves all of them, on tokio's multi-threaded
//! runtime or, as our own server does, with a loop of its own for each core. The kinds:
//!
//! - `tungstenite`, `hyper` ([`reading`]): ndt7-like and LibreSpeed-like uploads that are read into user
//!   space and discarded there, as libraries make one do it.
//! - `hyper-dropping` ([`hyper_dropping`]): hyper, whose connection drops the bytes of bodies inside the
//!   kernel and tells hyper that they were read.
//! - `ws-dropping`, `http-dropping` ([`dropping`]): no library but tokio and our own parsers; bytes are
//!   dropped inside the kernel as our own server drops them.

mod drain;
mod dropping;
mod hyper_dropping;
mod reading;

use std::error::Error;
use std::future::{pending, Future, IntoFuture};
use std::io;
use std::net::TcpStream as StdStream;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;

type Ended = Result<(), Box<dyn Error + Send + Sync>>;

const USAGE: &str = "usage: speedtest-baseline [--loop-a-core] KIND=ADDRESS...";

#[tokio::main]
async fn main() -> Ended {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let loop_a_core = arguments.first().is_some_and(|first| first == "--loop-a-core");
    let loops = if loop_a_core {
        arguments.remove(0);
        loops()?
    } else {
        vec![Handle::current()]
    };
    let mut servers = JoinSet::new();
    for argument in arguments {
        let (kind, address) = argument.split_once('=').ok_or(USAGE)?;
        let (listener, loops) = (TcpListener::bind(address).await?, loops.clone());
        match kind {
            "tungstenite" => servers.spawn(serve(listener, loops, reading::web_socket)),
            "hyper" => servers.spawn(serve(listener, loops, reading::http)),
            "hyper-dropping" => servers.spawn(serve(listener, loops, hyper_dropping::http)),
            "http-dropping" => servers.spawn(serve(listener, loops, dropping::http)),
            "ws-dropping" => servers.spawn(serve(listener, loops, dropping::web_socket)),
            other => return Err(format!("no kind of server {other:?}; {USAGE}").into()),
        };
    }
    while let Some(ended) = servers.join_next().await {
        ended??;
    }
    Ok(())
}

/// Start a runtime of one thread for each core.
fn loops() -> io::Result<Vec<Handle>> {
    (0..std::thread::available_parallelism()?.get())
        .map(|_| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let handle = runtime.handle().clone();
            std::thread::spawn(move || runtime.block_on(pending::<()>().into_future()));
            Ok(handle)
        })
        .collect()
}

/// Serve every connection in a task of its own, on the loops in turn; errors are the client's
/// concern.
async fn serve<F>(listener: TcpListener, loops: Vec<Handle>, each: fn(TcpStream) -> F) -> Ended
where
    F: Future<Output = Ended> + Send + 'static,
{
    for number in 0.. {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let socket: StdStream = socket.into_std()?;
        loops[number % loops.len()].spawn(async move {
            // The socket is registered with the loop of its task.
            if let Ok(socket) = TcpStream::from_std(socket) {
                drop(each(socket).await);
            }
        });
    }
    Ok(())
}
