//! Rust text of the entry points: each form of each function uses a macro of `src/entry.rs`, which makes its
//! `MPI_` and its `PMPI_` symbol.

use heddle_spec::function::{Direction, Errors, Function, Kind, Param, Returns};
use heddle_spec::function_table::Functions;

/// The functions whose bodies enter the model's call section by themselves, since they may give up.
const TESTS: [&str; 4] = ["Test", "Testany", "Testall", "Testsome"];

/// All entry points.
pub(crate) fn entry_points(functions: &Functions) -> String {
    let mut out = String::new();
    for chapter in &functions.chapters {
        for function in &chapter.functions {
            for (name, large) in function.forms() {
                out += &entry_point(function, &chapter.module, &name, large);
            }
        }
    }
    out
}

fn entry_point(function: &Function, module: &str, name: &str, large: bool) -> String {
    let mut params = Vec::new();
    let mut arguments = Vec::new();
    if function.form {
        arguments.push(if large { "Form::Large" } else { "Form::Small" }.to_owned());
    }
    for param in &function.params {
        let param_name = format!("c_{}", param.name);
        if large || !param.large_only {
            params.push(format!("{param_name}: {}", c_type(param, large)));
            arguments.push(argument(param, &param_name, large));
        } else {
            arguments.push(absent(param).into());
        }
    }
    let body = format!("crate::bodies::{module}::{}({})", function.name.to_lowercase(), arguments.join(", "));
    let express = if function.express {
        format!(
            "|attempt| crate::bodies::{module}::express_{}(attempt, {}), ",
            function.name.to_lowercase(),
            arguments.join(", ")
        )
    } else {
        String::new()
    };
    let params = params.join(", ");
    let object = object(function);
    let when = match (function.early, function.unguarded) {
        _ if TESTS.contains(&&*function.name) => "early",
        (true, _) => "early",
        (false, true) => "unguarded",
        (false, false) => "running",
    };
    match (&function.returns, function.built) {
        (Returns::Value(kind), built) => {
            let result = value_type(kind);
            let body = if built { body } else { format!("unsupported {}", no_value(kind)) };
            format!("value_entry! {{ {name} P{name}({params}) -> {result} => {body} }}\n")
        }
        (_, true) => format!("entry! {{ {name} P{name}({params}) {when} {object} => {express}{body} }}\n"),
        (_, false) => format!("entry! {{ {name} P{name}({params}) {when} {object} => unsupported }}\n"),
    }
}

/// The type with which a parameter arrives from C.
fn c_type(param: &Param, large: bool) -> String {
    let base = value_type_of_form(&param.kind, large);
    let pointer = if param.direction == Direction::In { "*const" } else { "*mut" };
    match (&param.kind, param.dimensions, param.direction) {
        (Kind::Callback(..), ..) => "*const c_void".into(),
        (Kind::Address | Kind::State | Kind::Attr, ..) => "*mut c_void".into(),
        (Kind::Choice, ..) => format!("{pointer} c_void"),
        (Kind::Text, 0, _) => format!("{pointer} c_char"),
        (Kind::Text, 1, Direction::In) => "*mut *mut c_char".into(),
        (Kind::Text, ..) => "*mut *mut *mut c_char".into(),
        (Kind::Range, ..) => "*const [c_int; 3]".into(),
        (Kind::Status, ..) => format!("{pointer} Status"),
        (_, 0, Direction::In) => base,
        _ => format!("{pointer} {base}"),
    }
}

/// The form in which the body receives a parameter.
fn argument(param: &Param, name: &str, large: bool) -> String {
    let form = if large { "large" } else { "int" };
    match (&param.kind, param.dimensions, param.direction) {
        (Kind::Callback(_, has_large), ..) => {
            format!("Callback {{ address: {name}, large: {} }}", large && *has_large)
        }
        (Kind::Address | Kind::State | Kind::Attr | Kind::Choice, ..) => name.into(),
        (Kind::Text, 0, Direction::In) => format!("made!(Text::new({name}))"),
        (Kind::Text, 0, _) => format!("made!(TextOut::new({name}))"),
        (Kind::Text, ..) => name.into(),
        (Kind::Status, _, Direction::In) => format!("made!(List::new({name}))"),
        (Kind::Status, ..) => format!("made!(StatusOut::new({name}))"),
        (Kind::Count | Kind::Displ, 1, Direction::In) => format!("made!(Counts::{form}({name}))"),
        (Kind::Count | Kind::Displ, 0, Direction::In) => format!("{name} as i64"),
        (Kind::Count | Kind::Displ, 0, _) => format!("made!(CountOut::{form}({name}))"),
        (Kind::Logical, 0, Direction::In) => format!("{name} != 0"),
        (_, 0, Direction::In) => name.into(),
        (_, 0, _) => format!("made!(Out::new({name}))"),
        (_, _, Direction::In) => format!("made!(List::new({name}))"),
        _ => format!("made!(ListOut::new({name}))"),
    }
}

/// The argument that the body gets for a parameter that only the large form has.
fn absent(param: &Param) -> &'static str {
    match (param.dimensions, param.direction) {
        (0, Direction::In) => "0",
        (0, _) => "CountOut::ABSENT",
        _ => "ListOut::ABSENT",
    }
}

fn value_type(kind: &Kind) -> String {
    value_type_of_form(kind, false)
}

fn value_type_of_form(kind: &Kind, large: bool) -> String {
    match kind {
        Kind::Aint | Kind::Extent | Kind::BigCount | Kind::Offset => "i64".into(),
        Kind::Count | Kind::Displ if large => "i64".into(),
        Kind::Double => "f64".into(),
        Kind::Object("MPI_T_cb_safety" | "MPI_T_source_order") => "c_int".into(),
        Kind::Object(name) if name.starts_with("MPI_T_") => "usize".into(),
        Kind::Object(name) => format!("{}Handle", name.trim_start_matches("MPI_")),
        _ => "c_int".into(),
    }
}

/// The value that a function returns when it has no result.
fn no_value(kind: &Kind) -> String {
    match kind {
        Kind::Object(_) => format!("{}::NULL", value_type(kind)),
        Kind::Double => "0.0".into(),
        _ => "0".into(),
    }
}

/// The object whose error handler is called.
fn object(function: &Function) -> String {
    let index = match function.errors {
        Errors::Default => return "Object::Default".into(),
        Errors::NullFile => return "Object::File(FileHandle::NULL.0)".into(),
        Errors::Returned => return "Object::Returned".into(),
        Errors::Param(index) => index,
    };
    let param = &function.params[index];
    let Kind::Object(c_type) = &param.kind else { panic!("{}: errors= names no object", function.name) };
    let kind = c_type.trim_start_matches("MPI_");
    match param.direction {
        Direction::In => format!("Object::{kind}(c_{}.0)", param.name),
        _ => format!(
            "made!(pointed_to(c_{})).map_or(Object::Default, |handle| Object::{kind}(handle.0))",
            param.name
        ),
    }
}
