//! Rust text of the structures that hold the arguments of functions with many of them. The blocking,
//! nonblocking and persistent forms of a function share one. So do all functions with the same parameters.

use super::parameter::argument;
use heddle_spec::function::{Direction, Function, Param, ParamKind};
use heddle_spec::function_table::Functions;

/// The arguments that a body takes one by one at most, as many as clippy allows. A function of which a form
/// has more gets a set.
const MOST: usize = 7;

/// Arguments that stand in one structure.
pub(crate) struct ArgumentSet<'a> {
    /// The structure's name: that of the first function in the table which has these parameters.
    pub(crate) name: String,
    /// The parameters, which are the structure's fields.
    pub(crate) params: &'a [Param],
    functions: Vec<&'a Function>,
}

/// All sets.
pub(crate) struct ArgumentSets<'a>(Vec<ArgumentSet<'a>>);

impl<'a> ArgumentSets<'a> {
    /// The sets of the functions that are built.
    pub(crate) fn new(functions: &'a Functions) -> Self {
        let mut sets = Vec::<ArgumentSet<'a>>::new();
        for function in functions.all().filter(|function| function.built) {
            let params = shared(&function.params);
            match sets.iter_mut().find(|set| set.params == params) {
                Some(set) => set.functions.push(function),
                None => sets.push(ArgumentSet { name: name(function), params, functions: vec![function] }),
            }
        }
        sets.retain(|set| set.functions.iter().any(|function| count_arguments(function) > MOST));
        Self(sets)
    }

    /// The set of a function, unless it takes its arguments one by one.
    pub(crate) fn of(&self, function: &Function) -> Option<&ArgumentSet<'a>> {
        self.0.iter().find(|set| function.built && set.params == shared(&function.params))
    }

    /// The definitions of the structures.
    pub(crate) fn definitions(&self) -> String {
        self.0.iter().map(ArgumentSet::definition).collect()
    }
}

impl ArgumentSet<'_> {
    fn definition(&self) -> String {
        let functions: Vec<_> =
            self.functions.iter().map(|function| format!("`MPI_{}`", function.name)).collect();
        let mut fields = String::new();
        for param in self.params {
            let rust_type = argument(param, &param.name, param.large_only).rust_type;
            fields += &format!("    pub(crate) {}: {rust_type},\n", param.name);
        }
        let lifetime = if fields.contains("'a") { "<'a>" } else { "" };
        format!(
            "/// Arguments of {}.\n#[derive(Debug, Clone, Copy)]\npub(crate) struct {}{lifetime} {{\n{fields}}}\n\n",
            functions.join(", "),
            self.name
        )
    }
}

/// The parameters of a function without those that its blocking, nonblocking or persistent form adds at the
/// end.
fn shared(params: &[Param]) -> &[Param] {
    let is = |param: &Param, kind: &ParamKind, direction| {
        param.kind == *kind && param.direction == direction && param.dimensions == 0
    };
    let is_request = |param: &Param| is(param, &ParamKind::Object("MPI_Request"), Direction::Out);
    match params {
        [shared @ .., info, request]
            if is_request(request) && is(info, &ParamKind::Object("MPI_Info"), Direction::In) =>
        {
            shared
        }
        [shared @ .., last] if is_request(last) || is(last, &ParamKind::Status, Direction::Out) => shared,
        all => all,
    }
}

/// The number of arguments that a body of the function takes without a set. An express path has one more, the
/// attempt.
fn count_arguments(function: &Function) -> usize {
    function.params.len() + usize::from(function.form) + usize::from(function.express)
}

/// `MPI_Type_create_darray` has `TypeCreateDarrayArguments`.
fn name(function: &Function) -> String {
    let words = function.name.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    words.collect::<String>() + "Arguments"
}
