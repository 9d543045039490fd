//! The text of the Fortran module `mpi_f08` (MPI 5.0, section 19.1.2): handles have types, error codes are
//! optional, and one name serves both sizes of counts.
//!
//! Its subroutines are `bind(C)`, so that a descriptor comes with each buffer and text. Where a buffer is
//! `contiguous`, the compiler copies a section with gaps ([`Gaps`]).

use crate::constant::{ConstantKind, ConstantSection};
use crate::function::{Direction, Function, Param, ParamKind, Returns};
use crate::function_table::Functions;
use crate::gaps::Gaps;
use crate::mpif::{
    KINDS, constants, has_subroutine, is_of_mpi_1, name_of, params_of, promises, push, value_of, without_c,
};

const OPENING: &str = "! The MPI 5.0 standard ABI for Fortran, made from Heddle's tables.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  public
  private :: c_ptr
";

const STATUS: &str = "
  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type MPI_Status

  integer :: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
  integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
  type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)
  common /HEDDLE_MPI_ADDRESSES/ MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED, &
    MPI_WEIGHTS_EMPTY, MPI_ERRCODES_IGNORE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
  save /HEDDLE_MPI_ADDRESSES/
";

const CONVERSIONS: &str = "
  subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = MPI_Status(f_status(1), f_status(2), f_status(3), f_status(4:8))
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine MPI_Status_f2f08

  subroutine MPI_Status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    integer, optional, intent(out) :: ierror
    f_status(1:3) = [f08_status%MPI_SOURCE, f08_status%MPI_TAG, f08_status%MPI_ERROR]
    f_status(4:8) = f08_status%MPI_internal
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine MPI_Status_f082f
";

/// The module, in free form.
pub fn module(sections: &[ConstantSection], functions: &Functions) -> String {
    let mut out = format!("{OPENING}{KINDS}{}{STATUS}", promises(true));
    let handles: Vec<&str> = sections.iter().filter_map(handle).collect();
    for handle in &handles {
        push(
            &mut out,
            format_args!("  type, bind(C) :: {handle}\n    integer :: MPI_VAL\n  end type {handle}"),
        );
    }
    for (section, constant) in constants(sections) {
        let (name, value) = (&constant.name, value_of(section, constant));
        match handle(section) {
            Some(handle) => {
                push(&mut out, format_args!("  type({handle}), parameter :: {name} = {handle}({value})"))
            }
            None if section.kind == ConstantKind::Offset => {
                push(
                    &mut out,
                    format_args!("  integer(kind=MPI_OFFSET_KIND), parameter :: {name} = {value}"),
                );
            }
            None => push(&mut out, format_args!("  integer, parameter :: {name} = {value}")),
        }
    }
    for (operator, word) in [("==", "equal"), ("/=", "differ")] {
        push(&mut out, format_args!("  interface operator({operator})"));
        for handle in &handles {
            push(&mut out, format_args!("    module procedure {word}_{handle}"));
        }
        push(&mut out, format_args!("  end interface"));
    }
    callbacks(&mut out);
    push(&mut out, format_args!("  interface"));
    without_c(&mut out);
    push(&mut out, format_args!("  end interface"));
    for function in functions.all().filter(|function| has_subroutine(function) && !is_of_mpi_1(function)) {
        for prefix in ["MPI", "PMPI"] {
            let name = format!("{prefix}_{}", function.name);
            push(&mut out, format_args!("  interface {name}"));
            for large in forms(function) {
                if large && has_large_callback(function) {
                    // Procedures do not tell the forms apart.
                    push(&mut out, format_args!("  end interface\n  interface {name}_c"));
                }
                interface(&mut out, function, prefix, large);
            }
            push(&mut out, format_args!("  end interface"));
        }
    }
    for handle in &handles {
        for word in ["equal", "differ"] {
            push(&mut out, format_args!("  private :: {word}_{handle}"));
        }
    }
    push(&mut out, format_args!("contains"));
    for handle in &handles {
        for (operator, word) in [("==", "equal"), ("/=", "differ")] {
            push(
                &mut out,
                format_args!(
                    "  elemental logical function {word}_{handle}(one, other)\n    \
                     type({handle}), intent(in) :: one, other\n    \
                     {word}_{handle} = one%MPI_VAL {operator} other%MPI_VAL\n  \
                     end function {word}_{handle}"
                ),
            );
        }
    }
    out += CONVERSIONS;
    out += "end module mpi_f08\n";
    out
}

/// The interfaces of functions that a program hands in, and the predefined ones.
fn callbacks(out: &mut String) {
    push(out, format_args!("  abstract interface"));
    for (suffix, kind) in [("", ""), ("_c", "(kind=MPI_COUNT_KIND)")] {
        push(
            out,
            format_args!(
                "    subroutine MPI_User_function{suffix}(invec, inoutvec, len, datatype)\n      import\n      \
                 type(c_ptr), value :: invec, inoutvec\n      integer{kind} :: len\n      \
                 type(MPI_Datatype) :: datatype\n    end subroutine"
            ),
        );
    }
    for (object, handle) in [("Comm", "comm"), ("Win", "win"), ("File", "file"), ("Session", "session")] {
        push(
            out,
            format_args!(
                "    subroutine MPI_{object}_errhandler_function({handle}, error_code)\n      import\n      \
                 type(MPI_{object}) :: {handle}\n      integer :: error_code\n    end subroutine"
            ),
        );
    }
    const OBJECTS: [(&str, &str, &str); 3] =
        [("Comm", "MPI_Comm", "comm"), ("Type", "MPI_Datatype", "datatype"), ("Win", "MPI_Win", "win")];
    for (object, handle, name) in OBJECTS {
        push(out, format_args!("{}", copy(&format!("MPI_{object}_copy_attr_function"), handle, name)));
        push(out, format_args!("{}", delete(&format!("MPI_{object}_delete_attr_function"), handle, name)));
    }
    *out += "    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine
  end interface
  interface
";
    for (object, handle, name) in OBJECTS {
        let upper = object.to_uppercase();
        for function in ["NULL_COPY_FN", "DUP_FN"] {
            push(out, format_args!("{}", copy(&format!("MPI_{upper}_{function}"), handle, name)));
        }
        push(out, format_args!("{}", delete(&format!("MPI_{upper}_NULL_DELETE_FN"), handle, name)));
    }
    push(out, format_args!("  end interface"));
}

fn copy(name: &str, handle: &str, object: &str) -> String {
    format!(
        "    subroutine {name}(old{object}, keyval, extra_state, attribute_val_in, &\n      \
         attribute_val_out, flag, ierror)\n      import\n      type({handle}) :: old{object}\n      \
         integer :: keyval, ierror\n      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, &\n        \
         attribute_val_out\n      logical :: flag\n    end subroutine"
    )
}

fn delete(name: &str, handle: &str, object: &str) -> String {
    format!(
        "    subroutine {name}({object}, keyval, attribute_val, extra_state, ierror)\n      import\n      \
         type({handle}) :: {object}\n      integer :: keyval, ierror\n      \
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state\n    end subroutine"
    )
}

/// The name of a subroutine in the linker's spelling.
pub fn symbol(function: &Function, prefix: &str, large: bool) -> String {
    specific(function, prefix, large).to_lowercase() + "_"
}

/// The specific name of a subroutine (MPI 5.0, section 19.1.5).
fn specific(function: &Function, prefix: &str, large: bool) -> String {
    let (large, suffix) = (if large { "_c" } else { "" }, if has_buffer(function) { "ts" } else { "" });
    format!("{prefix}_{}{large}_f08{suffix}", function.name)
}

/// The C type of a section's handles, if it has handles that Fortran knows.
fn handle(section: &ConstantSection) -> Option<&str> {
    match &section.kind {
        ConstantKind::Handle(handle) if !handle.starts_with("MPI_T_") => Some(handle),
        _ => None,
    }
}

fn has_large_callback(function: &Function) -> bool {
    function.params.iter().any(|param| matches!(param.kind, ParamKind::Callback(_, true)))
}

fn has_buffer(function: &Function) -> bool {
    function.params.iter().any(Param::is_buffer)
}

/// The forms of a function, each with whether counts are large. There is one if the types of the arguments
/// are the same in both, as `MPI_ADDRESS_KIND` is `MPI_COUNT_KIND`: a generic name cannot have two then.
pub fn forms(function: &Function) -> impl Iterator<Item = bool> {
    let bytes = |text: &str| text.replace("MPI_ADDRESS_KIND", "8").replace("MPI_COUNT_KIND", "8");
    let types = |large| function.params_of(large).map(|param| bytes(&of(param, large))).collect::<Vec<_>>();
    let has_both = function.large && types(false) != types(true);
    [false, true].into_iter().filter(move |large| !large || has_both)
}

/// The type of an argument.
fn of(param: &Param, large: bool) -> String {
    match &param.kind {
        _ if param.is_buffer() => "type(*), dimension(..)".into(),
        ParamKind::Address => "type(c_ptr)".into(),
        ParamKind::Count | ParamKind::Extent if large => "integer(kind=MPI_COUNT_KIND)".into(),
        ParamKind::Displ if large => "integer(kind=MPI_ADDRESS_KIND)".into(),
        ParamKind::Aint | ParamKind::Extent | ParamKind::Attr => "integer(kind=MPI_ADDRESS_KIND)".into(),
        ParamKind::BigCount => "integer(kind=MPI_COUNT_KIND)".into(),
        ParamKind::Offset => "integer(kind=MPI_OFFSET_KIND)".into(),
        ParamKind::Double => "double precision".into(),
        ParamKind::Logical => "logical".into(),
        ParamKind::Text => "character(len=*)".into(),
        ParamKind::Status => "type(MPI_Status)".into(),
        ParamKind::State => "integer(kind=MPI_ADDRESS_KIND)".into(),
        ParamKind::Callback(name, has_large) => {
            format!("procedure(MPI_{name}{})", if large && *has_large { "_c" } else { "" })
        }
        ParamKind::Object(handle) => format!("type({handle})"),
        _ => "integer".into(),
    }
}

fn interface(out: &mut String, function: &Function, prefix: &str, large: bool) {
    let (name, symbol) = (specific(function, prefix, large), symbol(function, prefix, large));
    let params = params_of(function, large);
    let mut names: Vec<&str> = params.iter().map(|param| name_of(param)).collect();
    let result = match &function.returns {
        Returns::Value(ParamKind::Double) => Some("double precision"),
        Returns::Value(_) => Some("integer(kind=MPI_ADDRESS_KIND)"),
        _ => None,
    };
    let has_code = result.is_none() && !function.variadic;
    if has_code {
        names.push("ierror");
    }
    let (what, result_name) = match result {
        Some(_) => ("function", " result(answer)"),
        None => ("subroutine", ""),
    };
    // A bind(C) procedure would take bind(C) procedures alone; this one has the same symbol without.
    let takes_procedures = params.iter().any(|param| matches!(param.kind, ParamKind::Callback(..)));
    let binding =
        if takes_procedures { String::new() } else { format!(" &\n      bind(C, name=\"{symbol}\")") };
    push(
        out,
        format_args!(
            "    {what} {name}( &\n      {}){binding}{result_name}\n      import",
            names.join(", &\n      ")
        ),
    );
    if let Some(result) = result {
        push(out, format_args!("      {result} :: answer"));
    }
    let is_begun = begins(function);
    for param in params {
        declare(out, function, param, large, is_begun);
    }
    if has_code {
        push(out, format_args!("      integer, optional, intent(out) :: ierror"));
    }
    push(out, format_args!("    end {what} {name}"));
}

/// Returns true if a buffer may be in use after the call.
fn begins(function: &Function) -> bool {
    let name = function.name.as_str();
    let has_request = function.params.iter().any(|param| param.name == "request");
    let is_split = name.ends_with("_begin") || name.ends_with("_end");
    has_request || function.is_one_sided() || is_split || name.contains("attach") || name == "Free_mem"
}

fn declare(out: &mut String, function: &Function, param: &Param, large: bool, is_begun: bool) {
    let dimensions = match (&param.kind, param.dimensions) {
        (ParamKind::Range, _) => "(3,*)",
        (_, 0) => "",
        _ => "(*)",
    };
    let intent = match (param.direction, &param.kind) {
        (Direction::In, _) => ", intent(in)",
        // MPI_STATUS_IGNORE is not written, and a buffer may be MPI_IN_PLACE or MPI_BOTTOM.
        (_, ParamKind::Status | ParamKind::Choice) => "",
        (Direction::Out, _) if dimensions.is_empty() => ", intent(out)",
        (Direction::Out, _) => "",
        (Direction::InOut, _) => ", intent(inout)",
    };
    let intent = if matches!(param.kind, ParamKind::Callback(..)) { "" } else { intent };
    // The library writes to a window's memory.
    let intent = if param.kind == ParamKind::Address && param.is_buffer() { "" } else { intent };
    let asynchronous = if is_begun && param.is_buffer() { ", asynchronous" } else { "" };
    let is_copied = param.is_buffer() && Gaps::of(function, param) == Gaps::Compiler;
    let contiguous = if is_copied { ", contiguous" } else { "" };
    push(
        out,
        format_args!(
            "      {}{contiguous}{intent}{asynchronous} :: {}{dimensions}",
            of(param, large),
            name_of(param)
        ),
    );
}
