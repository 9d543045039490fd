//! Rust text of the subroutines: for each function of the table one for `mpif.h` and the module `mpi`, and
//! one or, with large counts, two for the module `mpi_f08`.

use super::abi::{Abi, is_detached};
use super::c_form::{c_name, c_value, declaration, is_conversion, is_from_integer, is_scalar};
use super::conversion::{Conversion, may_have_gaps, tell};
use super::predefined::predefined;
use heddle_spec::function::{Direction, Function, Param, ParamKind, Returns};
use heddle_spec::function_table::Functions;
use heddle_spec::mpi_f08;
use heddle_spec::mpif::{has_subroutine, is_of_mpi_1};

/// The subroutines of `src/hand_written.rs` and, as they take functions of the program, `src/callbacks.rs`.
fn is_hand_written(function: &Function) -> bool {
    const NAMES: [&str; 15] = [
        "Attr_get",
        "Attr_put",
        "Comm_get_attr",
        "Comm_set_attr",
        "Info_create_env",
        "Info_get",
        "Info_get_string",
        "Init",
        "Init_thread",
        "Pcontrol",
        "Session_get_nth_pset",
        "Type_get_attr",
        "Type_set_attr",
        "Win_get_attr",
        "Win_set_attr",
    ];
    let is_callback = |param: &Param| matches!(param.kind, ParamKind::Callback(..));
    NAMES.contains(&function.name.as_str()) || function.params.iter().any(is_callback)
}

/// The form of a subroutine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) abi: Abi,
    /// True for that of `mpi_f08`.
    pub(crate) f08: bool,
    /// True if counts are large.
    pub(crate) large: bool,
}

impl Form {
    /// Returns true if texts come with a descriptor.
    pub(crate) fn describes_texts(self) -> bool {
        self.f08 && self.abi.describes_texts()
    }

    /// Returns true if buffers come with a descriptor.
    pub(crate) fn describes_buffers(self) -> bool {
        self.f08 && self.abi.has_descriptors()
    }

    /// Returns true if the program may leave out the error code.
    pub(crate) fn may_lack_code(self) -> bool {
        self.f08 || self.abi != Abi::Standard
    }
}

/// The parts of a subroutine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// For handles that are the same numbers in both languages.
    Direct,
    /// For all handles.
    Converting,
    /// For buffers that are sections with gaps.
    Gaps,
}

/// All subroutines, and the functions that they call.
pub(crate) fn subroutines(functions: &Functions, abi: Abi) -> String {
    let mut declarations = String::new();
    let mut out = String::new();
    for function in functions.all().filter(|function| !function.name.starts_with("T_")) {
        for prefix in ["MPI", "PMPI"] {
            let is_looked_up = abi == Abi::OpenMpi && is_from_integer(function);
            if is_conversion(function) && prefix == "MPI" && !is_looked_up {
                declarations += &declaration(function, prefix, false);
            }
            if !has_subroutine(function) {
                continue;
            }
            let is_made = !is_hand_written(function);
            for large in mpi_f08::forms(function).filter(|large| !large || abi.has_descriptors()) {
                declarations += &declaration(function, prefix, large);
                let forms = [false, true].into_iter().filter(|&f08| is_made && (f08 || !large));
                let is_here = |f08: bool| !f08 || !is_of_mpi_1(function) && abi.has_own_f08(function, large);
                for f08 in forms.filter(|&f08| is_here(f08)) {
                    out += &subroutine(function, prefix, Form { abi, f08, large });
                }
            }
        }
    }
    if abi == Abi::OpenMpi {
        out += &predefined(functions);
    }
    format!("unsafe extern \"C\" {{\n{declarations}}}\n{out}")
}

/// A subroutine and its other parts. It finds out first whether one of them is needed.
fn subroutine(function: &Function, prefix: &str, form: Form) -> String {
    let symbol = if form.f08 {
        mpi_f08::symbol(function, prefix, form.large)
    } else {
        format!("{}_{}_", prefix.to_lowercase(), function.name.to_lowercase())
    };
    let params = parameters(function, form);
    let names =
        params.iter().filter_map(|param| Some(param.split_once(':')?.0)).collect::<Vec<_>>().join(", ");
    let params = params.join(", ");
    let result = match &function.returns {
        Returns::Value(kind) => format!(" -> {}", c_value(kind, false)),
        _ => String::new(),
    };
    let named = |is: &dyn Fn(&Param) -> bool| {
        let params = function.params_of(form.large).filter(|param| is(param));
        params.map(|param| format!("*f_{}", param.name)).collect::<Vec<_>>()
    };
    let buffers = named(&|param| form.describes_buffers() && may_have_gaps(function, param, form));
    let handles = named(&|param| form.abi.has_small_constants() && is_handle(param));
    let mut usual: Vec<String> = buffers.iter().map(|buffer| format!("({buffer}).is_plain()")).collect();
    if !handles.is_empty() {
        usual.push(format!("handle::are_constants({})", handles.join(" | ")));
    }
    let mut text = String::new();
    let mut part = |part: Part, begin: &str| {
        let head = match part {
            Part::Direct => {
                format!("#[unsafe(export_name = \"{symbol}\")]\npub unsafe extern \"C\" fn fortran_{symbol}")
            }
            Part::Converting => format!("#[inline(never)]\nunsafe extern \"C\" fn converting_{symbol}"),
            Part::Gaps => format!("#[cold]\n#[inline(never)]\nunsafe extern \"C\" fn gaps_{symbol}"),
        };
        text += &format!(
            "{head}({params}){result} {{\n\
             // SAFETY: the program's arguments are those that the standard asks for.\nunsafe {{\n{begin}{}}}\n}}\n",
            body(function, prefix, form, part)
        );
    };
    let other =
        |condition: String, part: &str| format!("if {condition} {{ return {part}_{symbol}({names}); }}\n");
    let mut begin = String::new();
    if !buffers.is_empty() {
        part(Part::Gaps, "");
        let gaps: Vec<String> = buffers.iter().map(|buffer| format!("({buffer}).has_gaps()")).collect();
        begin = other(gaps.join(" || "), "gaps");
    }
    if !usual.is_empty() {
        part(Part::Converting, &begin);
        begin = other(format!("!({})", usual.join(" && ")), "converting");
    }
    part(Part::Direct, &begin);
    text
}

/// Returns true for a handle that goes in.
fn is_handle(param: &Param) -> bool {
    matches!(param.kind, ParamKind::Object(_)) && is_scalar(param) && param.direction == Direction::In
}

/// The parameters of a subroutine: those of the function, the error code, and the lengths of texts.
fn parameters(function: &Function, form: Form) -> Vec<String> {
    let mut params: Vec<String> = Vec::new();
    for param in function.params_of(form.large) {
        let is_unused = is_detached(param) && !form.f08;
        let is_described = form.describes_buffers() && param.is_buffer()
            || form.describes_texts() && param.kind == ParamKind::Text;
        let of = match &param.kind {
            _ if is_described => "*const Descriptor".into(),
            ParamKind::Object(_) | ParamKind::Logical => "*mut c_int".into(),
            kind => format!("*mut {}", c_value(kind, form.large)),
        };
        params.push(format!("{}f_{}: {of}", if is_unused { "_" } else { "" }, param.name));
    }
    if !matches!(function.returns, Returns::Value(_)) {
        params.push("ierror: *mut c_int".into());
    }
    let texts = function
        .params_of(form.large)
        .filter(|param| param.kind == ParamKind::Text && !form.describes_texts());
    params.extend(texts.map(|param| format!("l_{}: usize", param.name)));
    params
}

fn body(function: &Function, prefix: &str, form: Form, part: Part) -> String {
    let mut conversion = Conversion::new(part);
    for param in function.params_of(form.large) {
        conversion.add(function, param, form);
    }
    conversion.end_copies(function);
    let Conversion { before, arguments, behind, .. } = conversion;
    let call = format!("{}({})", c_name(function, prefix, form.large), arguments.join(", "));
    if let Returns::Value(_) = &function.returns {
        return format!("{call}\n");
    }
    format!("{before}let code = {call};\n{behind}{}\n", tell(form))
}
