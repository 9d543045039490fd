//! The environment variables: `heddle-settings(7)`.

use clap_mangen::roff::{Roff, bold, roman};
use heddle_model::{Choice, Class};
use heddle_settings::Variable;

/// The page.
pub(super) fn page() -> String {
    let mut page = Roff::new();
    let version = concat!("Heddle ", env!("CARGO_PKG_VERSION"));
    page.control("TH", ["heddle-settings", "7", "", version]);
    page.control("SH", ["NAME"]);
    page.text([roman("heddle-settings - environment variables of the MPI library Heddle")]);
    page.control("SH", ["DESCRIPTION"]);
    page.text([roman(
        "MPI_Init refuses a wrong value and names the allowed ones. Each variable is also an MPI_T control variable, by \
         its name in lower case. What is in force now, prints heddle info --all; heddle models lists the models.",
    )]);
    for (class, name, meaning) in Class::OPTIONS {
        page.control("SH", [format!("CLASS {name}").to_uppercase().as_str()]);
        page.text([roman(format!("This is {meaning}."))]);
        for variable in Variable::all().filter(|variable| variable.class() == *class) {
            page.control("TP", []);
            page.text([bold(variable.name())]);
            let (meaning, allowed, default) = (variable.meaning(), variable.allowed(), variable.default());
            page.text([roman(format!("{meaning}. Allowed: {allowed}. Default: {default}."))]);
        }
    }
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("mpiexec(1), heddle(1), heddle-info(1)")]);
    page.to_roff()
}
