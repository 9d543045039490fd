//! How a parameter arrives from C, and how the body of its function receives it.

use heddle_spec::function::{Direction, Param, ParamKind};

/// A parameter as the body receives it.
pub(crate) struct Argument {
    /// Its type.
    pub(crate) rust_type: String,
    /// The expression that makes it from the C argument.
    pub(crate) value: String,
}

/// The type with which a parameter arrives from C.
pub(crate) fn c_type(param: &Param, large: bool) -> String {
    let base = value_type(&param.kind, large);
    let pointer = if param.direction == Direction::In { "*const" } else { "*mut" };
    match (&param.kind, param.dimensions, param.direction) {
        (ParamKind::Callback(..), ..) => "*const c_void".into(),
        (ParamKind::Address | ParamKind::State | ParamKind::Attr, ..) => "*mut c_void".into(),
        (ParamKind::Choice, ..) => format!("{pointer} c_void"),
        (ParamKind::Text, 0, _) => format!("{pointer} c_char"),
        (ParamKind::Text, 1, Direction::In) => "*mut *mut c_char".into(),
        (ParamKind::Text, ..) => "*mut *mut *mut c_char".into(),
        (ParamKind::Status, ..) => format!("{pointer} {base}"),
        (_, 0, Direction::In) => base,
        _ => format!("{pointer} {base}"),
    }
}

/// The argument that the body gets for the C argument `name`.
pub(crate) fn argument(param: &Param, name: &str, large: bool) -> Argument {
    let form = if large { "large" } else { "int" };
    let base = value_type(&param.kind, large);
    let made = |function: &str| format!("made!({function}({name}))");
    let (rust_type, value) = match (&param.kind, param.dimensions, param.direction) {
        (ParamKind::Callback(_, has_large), ..) => {
            let value = format!(
                "Callback {{ address: {name}, large: {}, abi: Default::default() }}",
                large && *has_large
            );
            ("Callback".into(), value)
        }
        (ParamKind::Address | ParamKind::State | ParamKind::Attr | ParamKind::Choice, ..) => {
            (c_type(param, large), name.into())
        }
        (ParamKind::Text, 0, Direction::In) => ("Text<'a>".into(), made("Text::new")),
        (ParamKind::Text, 0, _) => ("TextOut".into(), made("TextOut::new")),
        (ParamKind::Text, ..) => (c_type(param, large), name.into()),
        (ParamKind::Status, _, Direction::In) => (format!("List<'a, {base}>"), made("List::new")),
        (ParamKind::Status, ..) => ("StatusOut".into(), made("StatusOut::new")),
        (ParamKind::Count | ParamKind::Displ, 1, Direction::In) => {
            ("Counts<'a>".into(), made(&format!("Counts::{form}")))
        }
        (ParamKind::Count | ParamKind::Displ, 0, Direction::In) => ("i64".into(), format!("{name} as i64")),
        (ParamKind::Count | ParamKind::Displ, 0, _) => {
            ("CountOut".into(), made(&format!("CountOut::{form}")))
        }
        (ParamKind::Logical, 0, Direction::In) => ("bool".into(), format!("{name} != 0")),
        (_, 0, Direction::In) => (base, name.into()),
        (_, 0, _) => (format!("Out<{base}>"), made("Out::new")),
        (_, _, Direction::In) => (format!("List<'a, {base}>"), made("List::new")),
        _ => (format!("ListOut<'a, {base}>"), made("ListOut::new")),
    };
    Argument { rust_type, value }
}

/// The expression for a parameter that only the large form has.
pub(crate) fn absent(param: &Param) -> &'static str {
    match (param.dimensions, param.direction) {
        (0, Direction::In) => "0",
        (0, _) => "CountOut::ABSENT",
        _ => "ListOut::ABSENT",
    }
}

/// The type of a value in one of the two forms.
pub(crate) fn value_type(kind: &ParamKind, large: bool) -> String {
    match kind {
        ParamKind::Aint | ParamKind::Extent | ParamKind::BigCount | ParamKind::Offset => "i64".into(),
        ParamKind::Count | ParamKind::Displ if large => "i64".into(),
        ParamKind::Double => "f64".into(),
        ParamKind::Range => "[c_int; 3]".into(),
        ParamKind::Status => "Status".into(),
        ParamKind::Object("MPI_T_cb_safety" | "MPI_T_source_order") => "c_int".into(),
        ParamKind::Object(name) if name.starts_with("MPI_T_") => "usize".into(),
        ParamKind::Object(name) => format!("{}Handle", name.trim_start_matches("MPI_")),
        _ => "c_int".into(),
    }
}

/// The value that a function returns when it has no result.
pub(crate) fn no_value(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Object(_) => format!("{}::NULL", value_type(kind, false)),
        ParamKind::Double => "0.0".into(),
        _ => "0".into(),
    }
}
