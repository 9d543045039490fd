//! `heddle info`.

use std::env;
use std::path::PathBuf;

use crate::reference;
use heddle_experiments::Installation;
use heddle_model::{Choice, Class, named_models};
use heddle_settings::Variable;
use heddle_settings::info_keys::{INFO_KEYS, InfoKey, SESSION_KEYS, WINDOW_KEYS};

/// Options of `heddle info`.
#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    /// Where Heddle is installed, if this program does not lie beside it.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Show the settings of these classes (user, tuning, research), separated by commas. Settings of other
    /// classes are shown if they are set.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', default_value = "user", conflicts_with = "all")]
    class: Vec<Class>,
    /// Show the settings of all classes.
    #[arg(long)]
    all: bool,
    /// Instead, the reference page (docs/reference.md): variables, info keys, models, and what is missing.
    #[arg(long, conflicts_with_all = ["prefix", "class", "all"])]
    reference: bool,
}

/// The text that `heddle info` prints.
pub(crate) fn text(args: &InfoArgs) -> String {
    if args.reference {
        return reference::page();
    }
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
    lines.extend(settings(args));
    lines.push("\ninfo keys, where a communicator is made with an info object".to_owned());
    lines.extend(key_lines(INFO_KEYS));
    lines.push("\ninfo keys, where a window is made with an info object".to_owned());
    lines.extend(key_lines(WINDOW_KEYS));
    lines.push("\ninfo keys, where a session is made with an info object".to_owned());
    lines.extend(key_lines(SESSION_KEYS));
    lines.push("\nmodels (HEDDLE_MODEL), the default first".to_owned());
    let width = named_models().map(|model| model.name.len()).max().unwrap_or(0);
    lines.extend(named_models().map(|model| format!("  {:width$}  {}", model.name, model.meaning)));
    lines.join("\n") + "\n"
}

/// The settings of each class that is asked for, and those of other classes that are set.
fn settings(args: &InfoArgs) -> Vec<String> {
    let mut lines = Vec::new();
    let mut hidden = Vec::new();
    let mut has_parts = false;
    let width = Variable::all().map(|variable| variable.name().len()).max().unwrap_or(0);
    for (class, name, meaning) in Class::OPTIONS {
        let is_asked = args.all || args.class.contains(class);
        let (shown, others): (Vec<_>, Vec<_>) = Variable::all()
            .filter(|variable| variable.class() == *class)
            .partition(|variable| is_asked || env::var_os(variable.name()).is_some());
        if !shown.is_empty() {
            lines.push(format!("\nsettings (environment variables) of class {name}: {meaning}"));
        }
        for variable in shown {
            has_parts |= matches!(variable, Variable::Part(_));
            let value = env::var_os(variable.name());
            let value = value.map_or("not set".to_owned(), |value| format!("= {}", value.to_string_lossy()));
            lines.push(format!("  {:width$}  {value}", variable.name()));
            let (meaning, allowed, default) = (variable.meaning(), variable.allowed(), variable.default());
            lines.push(format!("  {:width$}  {meaning} ({allowed}; default {default})", ""));
        }
        if !others.is_empty() {
            hidden.push(format!("  {} of class {name}: {meaning}", others.len()));
        }
    }
    if !hidden.is_empty() {
        lines.push("\nfurther settings, none of which is set: heddle info --class NAME, or --all".to_owned());
        lines.append(&mut hidden);
    }
    if has_parts {
        lines.push(
            "a model other than the default has parts of its own in place of these defaults".to_owned(),
        );
    }
    lines
}

fn key_lines(keys: &[InfoKey]) -> impl Iterator<Item = String> {
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
    keys.iter().map(move |key| format!("  {:width$}  {} ({})", key.name, key.meaning, key.values))
}
