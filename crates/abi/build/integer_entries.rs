//! Rust text of the entries that convert between handles and their integers in Fortran.

use super::face::{Face, handle_type, object_type};
use heddle_spec::function::{Function, ParamKind, Returns};

/// A number that stands for a handle in both languages.
pub(crate) fn same(face: Face<'_>, name: &str, function: &Function) -> String {
    let param = &function.params[0].name;
    format!("{}({param}: c_int) -> c_int {{ {param} }}\n", face.head(name))
}

/// A conversion between a handle and its integer in Fortran.
pub(crate) fn integer(face: Face<'_>, name: &str, function: &Function) -> String {
    let param = &function.params[0];
    let (from, to, call) = match (&function.returns, &param.kind) {
        (Returns::Value(ParamKind::Object(kind)), _) => {
            let group = kind.trim_start_matches("MPI_").to_uppercase();
            let call = format!("of_integer({}, &constants::{group}_OF_INTEGERS", param.name);
            ("c_int", object_type(face, kind), call)
        }
        (_, ParamKind::Object(kind)) => {
            let call = format!("integer({}::of_number({})", handle_type(kind), param.name);
            (object_type(face, kind), "c_int", call)
        }
        _ => panic!("{name} converts no handle"),
    };
    let head = face.head(name);
    format!(
        "{head}({}: {from}) -> {to} {{ super::handle::{call}, crate::entry_points::{name}) }}\n",
        param.name
    )
}
