//! The text of `mpi.h`.

use crate::constant::{ConstantKind, ConstantSection};
use crate::function::{Direction, Function, Param, ParamKind, Returns};
use crate::function_table::Functions;
use crate::{fortran, removed};
use std::fmt::Write;

const OPENING: &str = "\
/* The MPI 5.0 standard ABI. Made from Heddle's tables of the standard (crates/spec); do not edit. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

/* Integers wide enough for addresses, for places in files, and for either. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* The status of a received message. MPI_internal belongs to the library. */
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
";

const CLOSING: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

/// The header `mpi.h`, for C and C++.
pub fn mpi_h(sections: &[ConstantSection], functions: &Functions) -> String {
    let mut out = String::from(OPENING);
    let is_type = |section: &&ConstantSection| matches!(section.kind, ConstantKind::Handle(_));
    heading(&mut out, "Handles");
    for section in sections.iter().filter(is_type) {
        if let ConstantKind::Handle(name) = &section.kind {
            push(&mut out, format_args!("typedef struct {}* {name};", struct_tag(name)));
        }
    }
    for section in sections.iter().filter(|section| !section.constants.is_empty()) {
        heading(&mut out, &section.title);
        constants(&mut out, section);
    }
    heading(&mut out, "Functions that a program hands in");
    for callback in &functions.callbacks {
        for (name, large) in callback.forms() {
            push(&mut out, format_args!("typedef {};", prototype(callback, &format!("({name})"), large)));
        }
    }
    for chapter in &functions.chapters {
        heading(&mut out, &chapter.title);
        for (prefix, function) in ["", "P"].iter().flat_map(|p| chapter.functions.iter().map(move |f| (p, f)))
        {
            let remark = if function.deprecated { " /* deprecated */" } else { "" };
            for (name, large) in function.forms() {
                let text = prototype(function, &format!("{prefix}{name}"), large);
                push(&mut out, format_args!("{text};{remark}"));
            }
        }
    }
    out += &fortran::text(functions);
    out += &removed::text();
    out.push_str(CLOSING);
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a String takes everything");
}

fn heading(out: &mut String, title: &str) {
    push(out, format_args!("\n/* {title} */"));
}

/// The tag of the structure that a handle points to; C++ puts it into the names of functions that take the
/// handle.
fn struct_tag(handle: &str) -> String {
    match handle.strip_prefix("MPI_T_") {
        Some(_) => format!("{handle}_t"),
        None => handle.replacen("MPI_", "MPI_ABI_", 1),
    }
}

fn constants(out: &mut String, section: &ConstantSection) {
    if let ConstantKind::Enum(name) = &section.kind {
        let members: Vec<String> =
            section.constants.iter().map(|c| format!("    {} = {}", c.name, c.text)).collect();
        push(out, format_args!("typedef enum {name} {{\n{}\n}} {name};", members.join(",\n")));
        return;
    }
    let width = section.constants.iter().map(|c| c.name.len()).max().unwrap_or(0);
    for constant in &section.constants {
        let (name, text) = (&constant.name, &constant.text);
        let value = match &section.kind {
            _ if constant.alias => text.clone(),
            ConstantKind::Int if constant.value < 0 => format!("({text})"),
            ConstantKind::Int | ConstantKind::Enum(_) => text.clone(),
            ConstantKind::Offset => format!("((MPI_Offset){text})"),
            ConstantKind::Address => format!("(({}){text})", constant.c_type),
            ConstantKind::Handle(handle) => format!("(({handle}){text})"),
        };
        push(out, format_args!("#define {name:width$} {value}"));
    }
}

/// The C declaration of `function` under the name `declared`.
pub fn prototype(function: &Function, declared: &str, large: bool) -> String {
    let result = match &function.returns {
        Returns::ErrorCode => "int",
        Returns::Void => "void",
        Returns::Value(kind) => c_type(kind, large),
    };
    let mut params: Vec<String> = function.params_of(large).map(|param| c_param(param, large)).collect();
    if function.variadic {
        params.push("...".into());
    } else if params.is_empty() {
        params.push("void".into());
    }
    format!("{result} {declared}({})", params.join(", "))
}

/// The C type of a single value; for a pointer, the type that it points to.
fn c_type(kind: &ParamKind, large: bool) -> &'static str {
    match (kind, large) {
        (
            ParamKind::Int
            | ParamKind::Rank
            | ParamKind::Tag
            | ParamKind::Logical
            | ParamKind::Constant(_)
            | ParamKind::Keyval
            | ParamKind::Range,
            _,
        )
        | (ParamKind::Count | ParamKind::Displ, false) => "int",
        (ParamKind::Aint, _) | (ParamKind::Displ, true) | (ParamKind::Extent, false) => "MPI_Aint",
        (ParamKind::BigCount, _) | (ParamKind::Count | ParamKind::Extent, true) => "MPI_Count",
        (ParamKind::Offset, _) => "MPI_Offset",
        (ParamKind::Double, _) => "double",
        (
            ParamKind::Choice
            | ParamKind::Address
            | ParamKind::State
            | ParamKind::Attr
            | ParamKind::Callback(..),
            _,
        ) => "void",
        (ParamKind::Text, _) => "char",
        (ParamKind::Status, _) => "MPI_Status",
        (ParamKind::Object(name), _) => name,
    }
}

fn c_param(param: &Param, large: bool) -> String {
    let (name, kind) = (&param.name, &param.kind);
    let base = c_type(kind, large);
    let constness = if param.direction == Direction::In { "const " } else { "" };
    match (kind, param.dimensions, param.direction) {
        (ParamKind::Callback(callback, has_large), ..) => {
            let suffix = if large && *has_large { "_c" } else { "" };
            format!("MPI_{callback}{suffix} *{name}")
        }
        (ParamKind::Address | ParamKind::State | ParamKind::Attr, ..) => format!("void *{name}"),
        (ParamKind::Choice, ..) => format!("{constness}void *{name}"),
        (ParamKind::Text, 0, _) => format!("{constness}char *{name}"),
        (ParamKind::Text, 1, Direction::In) => format!("char *{name}[]"),
        (ParamKind::Text, 1, _) => format!("char ***{name}"),
        (ParamKind::Text, ..) => format!("char **{name}[]"),
        (ParamKind::Range, ..) => format!("int {name}[][3]"),
        (ParamKind::Status, 0, _) => format!("{constness}MPI_Status *{name}"),
        (_, 0, Direction::In) => format!("{base} {name}"),
        (_, 0, _) => format!("{base} *{name}"),
        // Compilers warn of MPI_UNWEIGHTED, which is a small address, where an array is declared.
        _ if name.ends_with("weights") => format!("{constness}{base} *{name}"),
        _ => format!("{constness}{base} {name}[]"),
    }
}
