//! The text of `mpif.h`, which Fortran programs include in fixed or free form, and of the module `mpi`.

use crate::constant::{Constant, ConstantKind, ConstantSection};
use crate::function::{Direction, Function, Param, ParamKind, Returns};
use crate::function_table::Functions;
use std::fmt::Write;

/// The kinds of integers, and what a status looks like.
pub(crate) const KINDS: &str = "      integer MPI_INTEGER_KIND, MPI_ADDRESS_KIND
      integer MPI_OFFSET_KIND, MPI_COUNT_KIND
      parameter (MPI_INTEGER_KIND=4, MPI_ADDRESS_KIND=8)
      parameter (MPI_OFFSET_KIND=8, MPI_COUNT_KIND=8)
      integer MPI_STATUS_SIZE, MPI_SOURCE, MPI_TAG, MPI_ERROR
      parameter (MPI_STATUS_SIZE=8)
      parameter (MPI_SOURCE=1, MPI_TAG=2, MPI_ERROR=3)
";

/// The constants that say whether buffers may have gaps, and whether those of nonblocking operations are
/// declared as asynchronous (MPI 5.0, section 19.1).
pub(crate) fn promises(kept: bool) -> String {
    ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"]
        .map(|name| format!("      logical {name}\n      parameter ({name}=.{kept}.)\n"))
        .concat()
}

/// The variables that stand for special addresses (`crates/fortran/src/abi/standard/special.rs` knows their
/// order).
const ADDRESSES: &str = "      integer MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
      integer MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      integer MPI_ERRCODES_IGNORE(1)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      common /HEDDLE_MPI_ADDRESSES/ MPI_BOTTOM, MPI_IN_PLACE
      common /HEDDLE_MPI_ADDRESSES/ MPI_BUFFER_AUTOMATIC
      common /HEDDLE_MPI_ADDRESSES/ MPI_UNWEIGHTED
      common /HEDDLE_MPI_ADDRESSES/ MPI_WEIGHTS_EMPTY
      common /HEDDLE_MPI_ADDRESSES/ MPI_ERRCODES_IGNORE
      common /HEDDLE_MPI_ADDRESSES/ MPI_STATUS_IGNORE
      common /HEDDLE_MPI_ADDRESSES/ MPI_STATUSES_IGNORE
      save /HEDDLE_MPI_ADDRESSES/
";

/// The file `mpif.h`. No line is longer than 72 characters, and none is continued.
pub fn mpif_h(sections: &[ConstantSection], functions: &Functions) -> String {
    let mut out = format!(
        "! The MPI 5.0 standard ABI for Fortran, made from Heddle's tables.\n{KINDS}{}{ADDRESSES}",
        promises(false)
    );
    for (section, constant) in constants(sections) {
        declare(&mut out, section, constant);
    }
    predefined(&mut out);
    for prefix in ["MPI", "PMPI"] {
        for function in functions.all() {
            let Returns::Value(kind @ (ParamKind::Double | ParamKind::Aint)) = &function.returns else {
                continue;
            };
            let name = format!("{prefix}_{}", function.name);
            push(&mut out, format_args!("      {} {name}\n      external {name}", of_kind(kind)));
        }
    }
    out
}

/// The module `mpi`, in free form.
pub fn mpi_module(sections: &[ConstantSection], functions: &Functions) -> String {
    let mut out = format!(
        "! The MPI 5.0 standard ABI for Fortran, made from Heddle's tables.\nmodule mpi\n  implicit none\n  public\n{KINDS}{}{ADDRESSES}",
        promises(false)
    );
    for (section, constant) in constants(sections) {
        declare(&mut out, section, constant);
    }
    predefined(&mut out);
    out += "  interface\n";
    for function in functions.all().filter(|function| has_subroutine(function)) {
        for prefix in ["MPI", "PMPI"] {
            interface(&mut out, function, prefix);
        }
    }
    without_c(&mut out);
    out += "  end interface\nend module mpi\n";
    out
}

/// Returns true if the function has a subroutine in Fortran.
pub fn has_subroutine(function: &Function) -> bool {
    let name = function.name.as_str();
    let is_for_c = name.starts_with("T_") || name.ends_with("_toint") || name.ends_with("_fromint");
    let is_missing = matches!(name, "Comm_spawn" | "Comm_spawn_multiple" | "Register_datarep");
    !(is_for_c || is_missing)
}

/// Returns true for the functions for attributes of MPI-1, which the module `mpi_f08` does not have (MPI 5.0,
/// section 15.1).
pub fn is_of_mpi_1(function: &Function) -> bool {
    const NAMES: [&str; 5] = ["Attr_get", "Attr_put", "Attr_delete", "Keyval_create", "Keyval_free"];
    NAMES.contains(&function.name.as_str())
}

/// What C has no function for: the bytes of a variable, and a use of a buffer that the compiler sees
/// (MPI 5.0, sections 19.1.8 and 19.1.9).
pub(crate) fn without_c(out: &mut String) {
    for prefix in ["MPI", "PMPI"] {
        let lower = prefix.to_lowercase();
        push(
            out,
            format_args!(
                "    subroutine {prefix}_Sizeof(x, size, ierror) bind(C, name=\"{lower}_sizeof_f08ts_\")\n      \
                 type(*), dimension(..), intent(in) :: x\n      integer, intent(out) :: size\n      \
                 integer, optional, intent(out) :: ierror\n    end subroutine\n    \
                 subroutine {prefix}_F_sync_reg(buf) bind(C, name=\"{lower}_f_sync_reg_\")\n      \
                 type(*), dimension(..), asynchronous :: buf\n    end subroutine"
            ),
        );
    }
}

/// The constants that Fortran has under their own names, by section.
pub(crate) fn constants(sections: &[ConstantSection]) -> impl Iterator<Item = (&ConstantSection, &Constant)> {
    let are_here = |section: &&ConstantSection| {
        let is_of_tools = section.group.starts_with("T_");
        !is_of_tools && section.group != "FORTRAN_STATUS" && section.kind != ConstantKind::Address
    };
    let sections = sections.iter().filter(are_here);
    sections.flat_map(|section| section.constants.iter().map(move |constant| (section, constant)))
}

fn declare(out: &mut String, section: &ConstantSection, constant: &Constant) {
    let (name, value) = (&constant.name, value_of(section, constant));
    let kind = if section.kind == ConstantKind::Offset { "(kind=MPI_OFFSET_KIND)" } else { "" };
    push(out, format_args!("      integer{kind} {name}\n      parameter ({name}={value})"));
}

/// Declares the predefined procedures for attributes.
fn predefined(out: &mut String) {
    for object in ["", "COMM_", "TYPE_", "WIN_"] {
        for name in ["NULL_COPY_FN", "DUP_FN", "NULL_DELETE_FN"] {
            push(out, format_args!("      external MPI_{object}{name}"));
        }
    }
}

/// A constant's value in Fortran: the longest text has no null (MPI 5.0, section 2.6).
pub(crate) fn value_of(section: &ConstantSection, constant: &Constant) -> i64 {
    constant.value - i64::from(constant.name.starts_with("MPI_MAX_") && section.group == LENGTHS)
}

/// The section of the greatest lengths of texts.
const LENGTHS: &str = "LIMITS";

pub(crate) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a String takes everything");
}

/// The Fortran type of a kind.
fn of_kind(kind: &ParamKind) -> &'static str {
    match kind {
        ParamKind::Aint | ParamKind::Extent | ParamKind::Attr | ParamKind::State | ParamKind::Address => {
            "integer(kind=MPI_ADDRESS_KIND)"
        }
        ParamKind::BigCount => "integer(kind=MPI_COUNT_KIND)",
        ParamKind::Offset => "integer(kind=MPI_OFFSET_KIND)",
        ParamKind::Double => "double precision",
        ParamKind::Logical => "logical",
        ParamKind::Text => "character(len=*)",
        _ => "integer",
    }
}

/// The name of a parameter: `indx` only avoids a function of C's library.
pub(crate) fn name_of(param: &Param) -> &str {
    if param.name == "indx" { "index" } else { &param.name }
}

/// The parameters of a function in Fortran, which does not hand over the arguments of the program.
pub(crate) fn params_of(function: &Function, large: bool) -> Vec<&Param> {
    let are_of_program = |param: &Param| matches!(param.name.as_str(), "argc" | "argv");
    function.params_of(large).filter(|param| !are_of_program(param)).collect()
}

fn interface(out: &mut String, function: &Function, prefix: &str) {
    let name = format!("{prefix}_{}", function.name);
    let params = params_of(function, false);
    let mut names: Vec<&str> = params.iter().map(|param| name_of(param)).collect();
    let result = match &function.returns {
        Returns::Value(kind) => Some(of_kind(kind)),
        _ => None,
    };
    if result.is_none() && !function.variadic {
        names.push("ierror");
    }
    let what = if result.is_some() { "function" } else { "subroutine" };
    push(out, format_args!("    {what} {name}( &\n      {})", names.join(", &\n      ")));
    push(out, format_args!("      import"));
    if let Some(result) = result {
        push(out, format_args!("      {result} :: {name}"));
    }
    for param in params {
        declare_param(out, function, param);
    }
    if names.last() == Some(&"ierror") {
        push(out, format_args!("      integer :: ierror"));
    }
    push(out, format_args!("    end {what}"));
}

fn declare_param(out: &mut String, function: &Function, param: &Param) {
    let name = name_of(param);
    // Whatever is passed, its address arrives.
    if matches!(param.kind, ParamKind::Choice) || param.kind == ParamKind::Address {
        push(
            out,
            format_args!(
                "      !dir$ ignore_tkr {name}\n      !gcc$ attributes no_arg_check :: {name}\n      type(*) :: {name}"
            ),
        );
        return;
    }
    if let ParamKind::Callback(..) = param.kind {
        return push(out, format_args!("      external :: {name}"));
    }
    let dimensions = match (&param.kind, param.dimensions) {
        (ParamKind::Range, _) => "(3,*)",
        (ParamKind::Status, 0) => "(MPI_STATUS_SIZE)",
        (ParamKind::Status, _) => "(MPI_STATUS_SIZE,*)",
        (_, 0) => "",
        _ => "(*)",
    };
    let intent = if param.direction == Direction::In { ", intent(in)" } else { "" };
    let of_kind = match param.kind {
        ParamKind::Attr | ParamKind::State if is_of_mpi_1(function) => "integer",
        _ => of_kind(&param.kind),
    };
    push(out, format_args!("      {of_kind}{intent} :: {name}{dimensions}"));
}
