//! `heddle info`.

use std::env;
use std::path::PathBuf;

use crate::installation::Installation;
use crate::settings::{HINTS, models, settings};

/// Options of `heddle info`.
#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    /// Where Heddle is installed, if this program does not lie beside it.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// What `heddle info` shows.
pub(crate) fn text(args: &InfoArgs) -> String {
    let mut lines = vec![format!("Heddle {}", env!("CARGO_PKG_VERSION"))];
    match Installation::find(args.prefix.as_deref()) {
        Some(installation) => {
            lines.push(format!("prefix   {}", installation.prefix().display()));
            lines.push(match installation.library() {
                Some(library) => format!("library  {}", library.display()),
                None => format!("library  not found under {}", installation.prefix().display()),
            });
        }
        None => {
            lines.push("library  not found: build it (`make`), or name its place with --prefix".to_owned())
        }
    }
    lines.push("\nsettings (environment variables)".to_owned());
    let settings = settings();
    let width = settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    for setting in &settings {
        let value = env::var_os(setting.name);
        let value = value.map_or("not set".to_owned(), |value| format!("= {}", value.to_string_lossy()));
        lines.push(format!("  {:width$}  {value}", setting.name));
        lines.push(format!("  {:width$}  {} ({})", "", setting.meaning, setting.values));
    }
    lines.push("\ninfo keys, where a communicator is made with an info object".to_owned());
    let width = HINTS.iter().map(|hint| hint.name.len()).max().unwrap_or(0);
    for hint in &HINTS {
        lines.push(format!("  {:width$}  {} ({})", hint.name, hint.meaning, hint.values));
    }
    lines.push("\nmodels (HEDDLE_MODEL), the default first".to_owned());
    let width = models().map(|(name, _)| name.len()).max().unwrap_or(0);
    lines.extend(models().map(|(name, meaning)| format!("  {name:width$}  {meaning}")));
    lines.join("\n") + "\n"
}
