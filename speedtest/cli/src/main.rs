// SPDX-License-Identifier: Apache-2.0
//! `wirespeed-speedtest`: a speed-test server and its client.

mod client;
mod serve;
mod sessions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "wirespeed-speedtest", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve speed tests until SIGTERM; without any address: iperf3 on 127.0.0.1:5201, HTTP on 127.0.0.1:8080
    Serve(Box<serve::Args>),
    /// Test against a server of the iperf3 protocol, ndt7, LibreSpeed or responsiveness
    Client(Box<client::Args>),
    /// Count TCP connections that a server of HTTP takes: each second, or open at once
    Sessions(sessions::Args),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(args) => serve::run(*args),
        Command::Client(args) => client::run(&args),
        Command::Sessions(args) => sessions::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_does_not_contradict_itself() {
        super::Cli::command().debug_assert();
    }
}
