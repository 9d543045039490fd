//! `heddle info`.

use std::env;
use std::path::PathBuf;

use crate::installation::Installation;
use crate::settings::SETTINGS;

/// Options of `heddle info`.
#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    /// Where Heddle is installed, if this program does not lie beside it.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// Prints what `heddle info` shows.
pub(crate) fn print(args: &InfoArgs) {
    println!("Heddle {}", env!("CARGO_PKG_VERSION"));
    match Installation::find(args.prefix.as_deref()) {
        Some(installation) => {
            println!("prefix   {}", installation.prefix().display());
            match installation.library() {
                Some(library) => println!("library  {}", library.display()),
                None => println!("library  not found under {}", installation.prefix().display()),
            }
        }
        None => println!("library  not found: build it (`make`), or name its place with --prefix"),
    }
    println!("\nsettings (environment variables)");
    let width = SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    for setting in SETTINGS {
        let value = env::var(setting.name).map_or_else(|_| "not set".to_owned(), |v| format!("= {v}"));
        println!("  {:width$}  {value}", setting.name);
        println!("  {:width$}  {} ({})", "", setting.meaning, setting.values);
    }
}
