//! What C programs with a Fortran side expect of `mpi.h` beyond the ABI's table: Fortran's integer, and
//! conversions of handles and statuses. The ABI's library exports no such names, so they are functions of the
//! header over those that it has.

use crate::function::{ParamKind, Returns};
use crate::function_table::Functions;
use std::fmt::Write;

const OPENING: &str = "
/* For programs with a Fortran side. These names are not part of the ABI: the functions are the header's own. */
#ifndef MPI_ABI_static_inline
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define MPI_ABI_static_inline static inline
#elif defined(__GNUC__)
#define MPI_ABI_static_inline static __inline__
#else
#define MPI_ABI_static_inline static
#endif
#endif

/* Fortran's default INTEGER. */
typedef int MPI_Fint;

/* TYPE(MPI_Status) of the module mpi_f08. An INTEGER status of MPI_F_STATUS_SIZE elements has the same layout. */
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

#define MPI_F_STATUS_IGNORE     ((MPI_Fint*)MPI_STATUS_IGNORE)
#define MPI_F_STATUSES_IGNORE   ((MPI_Fint*)MPI_STATUSES_IGNORE)
#define MPI_F08_STATUS_IGNORE   ((MPI_F08_status*)MPI_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)MPI_STATUSES_IGNORE)

";

/// The three forms of a status, eight integers each: its letters in the names of functions, and the type of a
/// parameter.
const STATUSES: [(&str, &str); 3] = [("c", "MPI_Status"), ("f", "MPI_Fint"), ("f08", "MPI_F08_status")];

const FIELDS: [&str; 3] = ["MPI_SOURCE", "MPI_TAG", "MPI_ERROR"];

/// The part of `mpi.h`.
pub(crate) fn text(functions: &Functions) -> String {
    let mut out = String::from(OPENING);
    for prefix in ["", "P"] {
        for function in functions.all() {
            let (Some(kind), Returns::Value(ParamKind::Int)) =
                (function.name.strip_suffix("_toint"), &function.returns)
            else {
                continue;
            };
            let Some(ParamKind::Object(handle)) = function.params.first().map(|param| &param.kind) else {
                continue;
            };
            let name = format!("{prefix}MPI_{kind}");
            line(
                &mut out,
                &format!("MPI_Fint {name}_c2f({handle} handle) {{ return {name}_toint(handle); }}"),
            );
            line(
                &mut out,
                &format!("{handle} {name}_f2c(MPI_Fint handle) {{ return {name}_fromint(handle); }}"),
            );
        }
    }
    for from in STATUSES {
        for to in STATUSES.into_iter().filter(|to| *to != from) {
            status(&mut out, from, to);
        }
    }
    out
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "MPI_ABI_static_inline {text}").expect("a String takes everything");
}

/// The element of a status with a number, as the C text of a variable.
fn element(variable: &str, form: &str, number: usize) -> String {
    match (form, FIELDS.get(number)) {
        ("f", _) => format!("{variable}[{number}]"),
        (_, Some(field)) => format!("{variable}->{field}"),
        (_, None) => format!("{variable}->MPI_internal[{}]", number - FIELDS.len()),
    }
}

fn status(out: &mut String, (from, from_type): (&str, &str), (to, to_type): (&str, &str)) {
    let name = format!("MPI_Status_{from}2{to}");
    line(out, &format!("int {name}(const {from_type} *from, {to_type} *to) {{"));
    // MPI_STATUS_IGNORE and its like are null.
    let mut text = String::from("    if (!from || !to) return MPI_ERR_ARG;\n");
    for number in 0..8 {
        let (to, from) = (element("to", to, number), element("from", from, number));
        writeln!(text, "    {to} = {from};").expect("a String takes everything");
    }
    *out += &text;
    *out += &format!("    return MPI_SUCCESS;\n}}\n#define P{name} {name}\n");
}
