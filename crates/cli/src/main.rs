#![deny(unsafe_code)]
//! The `heddle` command: measures Heddle against other MPI libraries and says what is installed and how it is
//! set.
//!
//! `heddle lab` runs any program on a simulated machine (`heddle-lab`). The others
//! read settings, models and constants from `heddle-settings`, `heddle-model` and `heddle-spec`; what
//! `heddle bench` and `heddle papers` measure is in `heddle-experiments`.

mod info;
mod lab;
mod libraries;
mod models;
mod pages;
mod reference;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use heddle_experiments::{bench, papers};

/// Heddle, an MPI library built for threads.
#[derive(Debug, Parser)]
#[command(name = "heddle", version, about)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Measure Heddle and other MPI libraries in one alternating run.
    Bench(Box<bench::BenchArgs>),
    /// Show the version, where the library is, and the settings with their current values.
    Info(info::InfoArgs),
    /// Run an MPI program on a simulated machine of many cores.
    Lab(lab::LabArgs),
    /// Show which MPI libraries a program asks for, and what it gets under mpiexec.
    Libraries(libraries::LibrariesArgs),
    /// List the thread-safety models.
    Models(models::ModelsArgs),
    /// Write manual pages, and completions for bash, zsh and fish.
    Pages(pages::PagesArgs),
    /// Repeat the experiments of the papers whose models Heddle has.
    Papers(Box<papers::PapersArgs>),
}

fn main() -> ExitCode {
    match Command::parse().action {
        Action::Bench(args) => match bench::run(&args) {
            Ok(ending) => ending,
            Err(error) => {
                eprintln!("heddle bench: {error}");
                ExitCode::FAILURE
            }
        },
        Action::Papers(args) => match papers::run(&args) {
            Ok(ending) => ending,
            Err(error) => {
                eprintln!("heddle papers: {error}");
                ExitCode::FAILURE
            }
        },
        Action::Info(args) => {
            // A reader that closed our output (`heddle info | head -1`) wants no more of it.
            let _ = io::stdout().write_all(info::text(&args).as_bytes());
            ExitCode::SUCCESS
        }
        Action::Lab(args) => match lab::run_lab(&args) {
            Ok(ending) => ending,
            Err(error) => {
                eprintln!("heddle lab: {error}");
                ExitCode::FAILURE
            }
        },
        Action::Libraries(args) => match libraries::text(&args) {
            Ok(text) => {
                let _ = io::stdout().write_all(text.as_bytes());
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("heddle libraries: {error}");
                ExitCode::FAILURE
            }
        },
        Action::Pages(args) => match pages::write::<Command>(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("heddle pages: {error}");
                ExitCode::FAILURE
            }
        },
        Action::Models(args) => {
            let _ = io::stdout().write_all(models::text(&args).as_bytes());
            ExitCode::SUCCESS
        }
    }
}
