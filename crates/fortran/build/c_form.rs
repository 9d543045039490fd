//! The C functions that subroutines call, and the types of their parameters.

use heddle_spec::function::{Direction, Function, Param, ParamKind, Returns};

/// Returns true for the functions that make a handle of an integer, or the reverse.
pub(crate) fn is_conversion(function: &Function) -> bool {
    function.name.ends_with("_toint") || function.name.ends_with("_fromint")
}

/// Returns true for those that make a handle.
pub(crate) fn is_from_integer(function: &Function) -> bool {
    function.name.ends_with("_fromint")
}

pub(crate) fn declaration(function: &Function, prefix: &str, large: bool) -> String {
    let params = function.params_of(large);
    let mut params: Vec<String> =
        params.map(|param| format!("c_{}: {}", param.name, c_param(param, large))).collect();
    if function.variadic {
        params.push("...".into());
    }
    let name = c_name(function, prefix, large);
    format!("    pub(crate) fn {name}({}) -> {};\n", params.join(", "), result(function))
}

pub(crate) fn c_name(function: &Function, prefix: &str, large: bool) -> String {
    format!("{prefix}_{}{}", function.name, if large { "_c" } else { "" })
}

fn result(function: &Function) -> &'static str {
    match &function.returns {
        Returns::Value(kind) => c_value(kind, false),
        _ => "c_int",
    }
}

/// The Rust type of a value in C.
pub(crate) fn c_value(kind: &ParamKind, large: bool) -> &'static str {
    match kind {
        ParamKind::Count | ParamKind::Extent if large => "i64",
        ParamKind::Displ if large => "isize",
        ParamKind::Extent | ParamKind::Aint => "isize",
        ParamKind::BigCount | ParamKind::Offset => "i64",
        ParamKind::Double => "f64",
        ParamKind::Choice
        | ParamKind::Address
        | ParamKind::State
        | ParamKind::Attr
        | ParamKind::Callback(..) => "c_void",
        ParamKind::Text => "c_char",
        ParamKind::Status => "Status",
        ParamKind::Object("MPI_File") => "FileHandle",
        ParamKind::Object(_) => "Handle",
        _ => "c_int",
    }
}

pub(crate) fn is_scalar(param: &Param) -> bool {
    param.dimensions == 0
        && !matches!(
            param.kind,
            ParamKind::Choice
                | ParamKind::Address
                | ParamKind::State
                | ParamKind::Attr
                | ParamKind::Callback(..)
                | ParamKind::Text
                | ParamKind::Range
                | ParamKind::Status
        )
}

fn c_param(param: &Param, large: bool) -> String {
    let value = c_value(&param.kind, large);
    match (&param.kind, param.dimensions, param.direction) {
        (ParamKind::Text, 1 | 2, direction) => {
            "*mut ".repeat(1 + param.dimensions + usize::from(direction != Direction::In)) + value
        }
        _ if is_scalar(param) && param.direction == Direction::In => value.into(),
        _ => format!("*mut {value}"),
    }
}
