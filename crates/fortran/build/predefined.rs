//! Handles of integers for Open MPI's ABI, as Rust text: the addresses of predefined ones stand in tables,
//! and only for others the MPI library is asked.

use super::c_form::is_from_integer;
use heddle_spec::constant::ConstantKind;
use heddle_spec::foreign::OPENMPI;
use heddle_spec::function::{Function, ParamKind, Returns};
use heddle_spec::function_table::Functions;
use std::fmt::Write;

/// A table for each kind of handles, and functions with the names of the MPI library's.
pub(crate) fn predefined(functions: &Functions) -> String {
    let sections = OPENMPI.constants().unwrap_or_else(|error| panic!("{error}"));
    let mut out = String::new();
    for section in &sections {
        let ConstantKind::Handle(kind) = &section.kind else { continue };
        let mut places = Vec::new();
        let mut symbols = String::new();
        for (integer, pair) in section.pairs.iter().filter_map(|pair| Some((pair.integer?, pair))) {
            let place = integer as usize;
            places.resize(places.len().max(place + 1), "handle::Predefined::NONE".into());
            places[place] = format!("handle::Predefined(&raw const {})", pair.text);
            _ = writeln!(symbols, "safe static {}: u8;", pair.text);
        }
        if places.is_empty() {
            continue;
        }
        let (table, len, places) = (table(kind), places.len(), places.join(", "));
        _ = writeln!(out, "unsafe extern \"C\" {{\n{symbols}}}");
        _ = writeln!(out, "static {table}: [handle::Predefined; {len}] = [{places}];");
    }
    for function in functions.all().filter(|function| is_from_integer(function)) {
        let Returns::Value(ParamKind::Object(kind)) = &function.returns else { continue };
        out += &conversion(function, &table(kind));
    }
    out
}

fn table(kind: &str) -> String {
    format!("{}_HANDLES", kind.trim_start_matches("MPI_").to_uppercase())
}

fn conversion(function: &Function, table: &str) -> String {
    let name = format!("MPI_{}", function.name);
    format!(
        "#[inline(always)]\n\
         pub(crate) unsafe extern \"C\" fn {name}(integer: c_int) -> Handle {{\n\
         unsafe extern \"C\" {{\n#[link_name = \"{name}\"]\nfn other(integer: c_int) -> Handle;\n}}\n\
         handle::of_integer(integer, &{table}, other)\n}}\n"
    )
}
