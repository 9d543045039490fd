//! Rust text of the entry points: each form of each function uses a macro of `src/entry.rs`, which makes its
//! `MPI_` and its `PMPI_` symbol.

use super::argument_sets::{ArgumentSet, ArgumentSets};
use super::parameter::{absent, argument, c_type, no_value, value_type};
use heddle_spec::function::{Direction, Errors, Function, Param, ParamKind, Returns};
use heddle_spec::function_table::Functions;

/// The functions whose bodies enter the model's call section by themselves, since they may give up.
const TESTS: [&str; 4] = ["Test", "Testany", "Testall", "Testsome"];

/// The functions whose express path takes its arguments one by one. From a structure the compiler makes
/// longer code: 157 instructions instead of 151 for a self message.
const ONE_BY_ONE: [&str; 1] = ["Sendrecv"];

/// All entry points.
pub(crate) fn entry_points(functions: &Functions, sets: &ArgumentSets<'_>) -> String {
    let mut out = String::new();
    for chapter in &functions.chapters {
        for function in &chapter.functions {
            for (name, large) in function.forms() {
                out += &entry_point(function, &chapter.module, (&name, large), sets);
            }
        }
    }
    out
}

fn entry_point(
    function: &Function,
    module: &str,
    (name, large): (&str, bool),
    sets: &ArgumentSets<'_>,
) -> String {
    let params =
        function.params_of(large).map(|param| format!("{}: {}", c_name(param), c_type(param, large)));
    let params = params.collect::<Vec<_>>().join(", ");
    let set = sets.of(function);
    let lower = function.name.to_lowercase();
    // At the beginning of a line, since the compiler shows only that much of it if there is no such body.
    let body = format!("\ncrate::bodies::{module}::{lower}({})", arguments(function, large, set));
    let express = if function.express {
        let set = set.filter(|_| !ONE_BY_ONE.contains(&&*function.name));
        let arguments = arguments(function, large, set);
        format!("|attempt| crate::bodies::{module}::express_{lower}(attempt, {arguments}), ")
    } else {
        String::new()
    };
    let object = object(function);
    let when = match (function.early, function.unguarded) {
        _ if TESTS.contains(&&*function.name) => "early",
        (true, _) => "early",
        (false, true) => "unguarded",
        (false, false) => "running",
    };
    match (&function.returns, function.built) {
        (Returns::Value(kind), built) => {
            let result = value_type(kind, false);
            let body = if built { body } else { format!("unsupported {}", no_value(kind)) };
            format!("value_entry! {{ {name} P{name}({params}) -> {result} => {body} }}\n")
        }
        (_, true) => format!("entry! {{ {name} P{name}({params}) {when} {object} => {express}{body} }}\n"),
        (_, false) => format!("entry! {{ {name} P{name}({params}) {when} {object} => unsupported }}\n"),
    }
}

/// The arguments of the body, of which those in the set come first.
fn arguments(function: &Function, large: bool, set: Option<&ArgumentSet<'_>>) -> String {
    let value = |param: &Param| match large || !param.large_only {
        true => argument(param, &c_name(param), large).value,
        false => absent(param).into(),
    };
    let mut arguments = Vec::new();
    if function.form {
        arguments.push(if large { "Form::Large" } else { "Form::Small" }.to_owned());
    }
    let mut others = &*function.params;
    if let Some(set) = set {
        let fields: Vec<_> =
            set.params.iter().map(|param| format!("{}: {}", param.name, value(param))).collect();
        arguments.push(format!("{} {{ {} }}", set.name, fields.join(", ")));
        others = &function.params[set.params.len()..];
    }
    arguments.extend(others.iter().map(value));
    arguments.join(", ")
}

/// The name of a parameter in the entry point. It begins like no name of Rust.
fn c_name(param: &Param) -> String {
    format!("c_{}", param.name)
}

/// The object whose error handler is called.
fn object(function: &Function) -> String {
    let index = match function.errors {
        Errors::Default => return "ErrorObject::Default".into(),
        Errors::NullFile => return "ErrorObject::File(FileHandle::NULL.0)".into(),
        Errors::Returned => return "ErrorObject::Returned".into(),
        Errors::Param(index) => index,
    };
    let param = &function.params[index];
    let ParamKind::Object(c_type) = &param.kind else { panic!("{}: errors= names no object", function.name) };
    let kind = c_type.trim_start_matches("MPI_");
    match param.direction {
        Direction::In => format!("ErrorObject::{kind}({}.0)", c_name(param)),
        _ => format!(
            "made!(pointed_to({})).map_or(ErrorObject::Default, |handle| ErrorObject::{kind}(handle.0))",
            c_name(param)
        ),
    }
}
