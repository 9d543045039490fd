//! How a parameter arrives from C, and how the body of its function receives it.

use heddle_spec::function::{Direction, Kind, Param};

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
        (Kind::Callback(..), ..) => "*const c_void".into(),
        (Kind::Address | Kind::State | Kind::Attr, ..) => "*mut c_void".into(),
        (Kind::Choice, ..) => format!("{pointer} c_void"),
        (Kind::Text, 0, _) => format!("{pointer} c_char"),
        (Kind::Text, 1, Direction::In) => "*mut *mut c_char".into(),
        (Kind::Text, ..) => "*mut *mut *mut c_char".into(),
        (Kind::Status, ..) => format!("{pointer} {base}"),
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
        (Kind::Callback(_, has_large), ..) => {
            let value = format!("Callback {{ address: {name}, large: {} }}", large && *has_large);
            ("Callback".into(), value)
        }
        (Kind::Address | Kind::State | Kind::Attr | Kind::Choice, ..) => (c_type(param, large), name.into()),
        (Kind::Text, 0, Direction::In) => ("Text<'a>".into(), made("Text::new")),
        (Kind::Text, 0, _) => ("TextOut".into(), made("TextOut::new")),
        (Kind::Text, ..) => (c_type(param, large), name.into()),
        (Kind::Status, _, Direction::In) => (format!("List<'a, {base}>"), made("List::new")),
        (Kind::Status, ..) => ("StatusOut".into(), made("StatusOut::new")),
        (Kind::Count | Kind::Displ, 1, Direction::In) => {
            ("Counts<'a>".into(), made(&format!("Counts::{form}")))
        }
        (Kind::Count | Kind::Displ, 0, Direction::In) => ("i64".into(), format!("{name} as i64")),
        (Kind::Count | Kind::Displ, 0, _) => ("CountOut".into(), made(&format!("CountOut::{form}"))),
        (Kind::Logical, 0, Direction::In) => ("bool".into(), format!("{name} != 0")),
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
pub(crate) fn value_type(kind: &Kind, large: bool) -> String {
    match kind {
        Kind::Aint | Kind::Extent | Kind::BigCount | Kind::Offset => "i64".into(),
        Kind::Count | Kind::Displ if large => "i64".into(),
        Kind::Double => "f64".into(),
        Kind::Range => "[c_int; 3]".into(),
        Kind::Status => "Status".into(),
        Kind::Object("MPI_T_cb_safety" | "MPI_T_source_order") => "c_int".into(),
        Kind::Object(name) if name.starts_with("MPI_T_") => "usize".into(),
        Kind::Object(name) => format!("{}Handle", name.trim_start_matches("MPI_")),
        _ => "c_int".into(),
    }
}

/// The value that a function returns when it has no result.
pub(crate) fn no_value(kind: &Kind) -> String {
    match kind {
        Kind::Object(_) => format!("{}::NULL", value_type(kind, false)),
        Kind::Double => "0.0".into(),
        _ => "0".into(),
    }
}
