//! The conversion of a subroutine's arguments to C, as Rust text.

use super::abi::{Abi, is_detached};
use super::c_form::{c_value, is_scalar};
use super::subroutine::{Form, Part};
use heddle_spec::function::{Direction, Function, Param, ParamKind};
use heddle_spec::gaps::Gaps;

/// The text of a part of a subroutine: the conversion of each argument to C.
pub(crate) struct Conversion {
    part: Part,
    /// The statements before the call, its arguments, and the statements behind it.
    pub(crate) before: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) behind: String,
    /// The buffers that may have been copied, and those with a datatype of their own.
    copied: Vec<String>,
    described: Vec<Described>,
}

/// The names of a buffer that a datatype may describe, and of its count (empty if it stays) and datatype.
struct Described {
    buffer: String,
    count: String,
    datatype: String,
}

/// The handle of an integer in Fortran.
fn from_int(integer: &str, object: &str) -> String {
    format!("handle::from_int({integer}, {}_fromint)", prefix_of(object))
}

/// The words with which the names of a handle's functions begin.
fn prefix_of(object: &str) -> &str {
    if object == "MPI_Datatype" { "MPI_Type" } else { object }
}

impl Conversion {
    pub(crate) fn new(part: Part) -> Conversion {
        let (before, behind) = (String::new(), String::new());
        Conversion { part, before, arguments: Vec::new(), behind, copied: Vec::new(), described: Vec::new() }
    }

    pub(crate) fn add(&mut self, function: &Function, param: &Param, form: Form) {
        let name = format!("f_{}", param.name);
        let given = match &param.kind {
            _ if param.is_buffer() && self.part == Part::Gaps && may_have_gaps(function, param, form) => {
                self.buffer_with_gaps(function, param, form)
            }
            _ if param.is_buffer() => format!("special::buffer({})", address(&name, form)),
            _ if is_detached(param) && !form.f08 => {
                self.before += "let mut detached: *mut c_void = std::ptr::null_mut();\n";
                "(&raw mut detached).cast()".into()
            }
            ParamKind::Status => format!("special::status({name})"),
            ParamKind::Text => self.text(function, param, &name, form),
            ParamKind::Logical => self.logical(param, &name),
            ParamKind::Object(object) => self.handle(function, param, &name, object, form),
            ParamKind::Int if param.name.ends_with("weights") => format!("special::weights({name})"),
            _ if is_scalar(param) && param.direction == Direction::In => format!("*{name}"),
            _ => {
                self.count_from_one(function, param, &name);
                name
            }
        };
        // A section's own count and type take the place of the program's.
        let given = match self
            .described
            .iter()
            .find(|described| described.count == param.name || described.datatype == param.name)
        {
            Some(described) if described.count == param.name => {
                format!("b_{}.count as {}", described.buffer, c_value(&param.kind, form.large))
            }
            Some(described) => format!("b_{}.datatype", described.buffer),
            None => given,
        };
        self.arguments.push(given);
    }

    /// The argument for a buffer that may have gaps.
    fn buffer_with_gaps(&mut self, function: &Function, param: &Param, form: Form) -> String {
        let name = &param.name;
        let is_out = param.direction != Direction::In;
        let object = function.params_of(form.large).find_map(|param| match param.kind {
            ParamKind::Object(object @ ("MPI_Comm" | "MPI_Win")) if param.direction == Direction::In => {
                Some(format!(
                    "PMPI_{}_call_errhandler, {}",
                    &object[4..],
                    from_int(&format!("*f_{}", param.name), object)
                ))
            }
            _ => None,
        });
        let object = object.unwrap_or("PMPI_Comm_call_errhandler, MPI_COMM_SELF".into());
        let refuse = format!("{{ let code = refusal.raise({object}); {} return; }}", tell(form));
        match way_of(function, param, form) {
            Gaps::Described { count, datatype, may_be_copied } => {
                let number = match count {
                    Some(count) if form.large => format!("Some(*f_{})", count.name),
                    Some(count) => format!("Some(i64::from(*f_{}))", count.name),
                    None => "None".into(),
                };
                self.before += &format!(
                    "let b_{name} = match gaps::described(&*f_{name}, {number}, {}, \
                     gaps::Use {{ is_out: {is_out}, may_be_copied: {may_be_copied} }}) \
                     {{ Ok(buffer) => buffer, Err(refusal) => {refuse} }};\n",
                    from_int(&format!("*f_{}", datatype.name), "MPI_Datatype")
                );
                self.described.push(Described {
                    buffer: name.clone(),
                    count: count.map_or(String::new(), |count| count.name.clone()),
                    datatype: datatype.name.clone(),
                });
                self.copied.push(name.clone());
            }
            Gaps::Copied => {
                self.before += &format!("let b_{name} = gaps::copied(&*f_{name}, {is_out});\n");
                self.copied.push(name.clone());
            }
            _ => {
                self.before +=
                    &format!("if (*f_{name}).has_gaps() {{ let refusal = gaps::Refusal::Kept; {refuse} }}\n");
                return format!("special::buffer((*f_{name}).address)");
            }
        }
        format!("b_{name}.address")
    }

    /// Copies go back to their sections when the call returns, or when its request is complete.
    pub(crate) fn end_copies(&mut self, function: &Function) {
        let copies: Vec<String> = self.copied.iter().map(|buffer| format!("b_{buffer}.copy")).collect();
        match function.request() {
            Some(request) if !copies.is_empty() => {
                let is_persistent = function.name.ends_with("_init");
                self.behind += &format!(
                    "if code == MPI_SUCCESS {{ copies::keep(*f_{0}, v_{0}, [{1}], {is_persistent}); }}\n",
                    request.name,
                    copies.join(", ")
                );
            }
            _ => {
                for copy in copies {
                    self.behind += &format!("if let Some(copy) = {copy} {{ copy.write(); }}\n");
                }
            }
        }
    }

    /// Positions in arrays of requests begin with 1.
    fn count_from_one(&mut self, function: &Function, param: &Param, name: &str) {
        let of_requests = function.params.iter().any(|param| param.name == "array_of_requests");
        let len = match param.name.as_str() {
            "indx" if of_requests => "1",
            "array_of_indices" => "*f_outcount",
            _ => return,
        };
        self.behind += &format!("if code == MPI_SUCCESS {{ array::count_from_one({name}, {len}); }}\n");
    }

    fn text(&mut self, function: &Function, param: &Param, name: &str, form: Form) -> String {
        let (text, length) = (format!("t_{}", param.name), format!("l_{}", param.name));
        if form.describes_texts() {
            self.before += &format!("let ({name}, {length}) = (*{name}).characters();\n");
        }
        if param.direction == Direction::In {
            let to_c = if function.name.starts_with("Info_") { "to_c_trimmed" } else { "to_c" };
            self.before += &format!("let {text} = text::{to_c}({name}, {length});\n");
            return format!("{text}.as_ptr().cast_mut()");
        }
        self.before += &format!("let mut {text} = text::buffer();\n");
        self.behind +=
            &format!("if code == MPI_SUCCESS {{ text::to_fortran(&{text}, {name}, {length}); }}\n");
        format!("{text}.as_mut_ptr().cast()")
    }

    fn logical(&mut self, param: &Param, name: &str) -> String {
        let value = format!("v_{}", param.name);
        match (length(param), param.direction) {
            (None, Direction::In) => format!("logical::to_c(*{name})"),
            (None, _) => {
                self.before += &format!("let mut {value} = 0;\n");
                self.behind +=
                    &format!("if code == MPI_SUCCESS {{ {name}.write(logical::to_fortran({value})); }}\n");
                format!("&raw mut {value}")
            }
            (Some(length), Direction::In) => {
                self.before += &format!("let mut {value} = array::to_c({name}, {length}, logical::to_c);\n");
                format!("{value}.as_mut_ptr()")
            }
            (Some(length), _) => {
                self.before += &format!("let mut {value} = array::zeroed({length});\n");
                self.behind += &format!(
                    "if code == MPI_SUCCESS {{ array::to_fortran(&mut {value}, {name}, logical::to_fortran); }}\n"
                );
                format!("{value}.as_mut_ptr()")
            }
        }
    }

    fn handle(&mut self, function: &Function, param: &Param, name: &str, object: &str, form: Form) -> String {
        let value = format!("v_{}", param.name);
        let from_int = |of: &str| from_int(of, object);
        let to_int = |of: &str| format!("handle::to_int({of}, {}_toint)", prefix_of(object));
        let is_out = param.direction == Direction::Out;
        let Some(length) = length(param) else {
            if param.direction == Direction::In {
                let is_constant = self.part == Part::Direct && form.abi.has_small_constants();
                return if is_constant {
                    format!("handle::constant(*{name})")
                } else {
                    from_int(&format!("*{name}"))
                };
            }
            let before = if is_out { "0".into() } else { from_int(&format!("*{name}")) };
            self.before += &format!("let mut {value} = {before};\n");
            self.requests(function, param, &format!("&[{value}]"), form);
            let condition = if is_out { "if code == MPI_SUCCESS " } else { "" };
            self.behind += &format!("{condition}{{ {name}.write({}); }}\n", to_int(&value));
            return format!("&raw mut {value}");
        };
        self.before += &if is_out {
            format!("let mut {value} = array::zeroed::<Handle>({length});\n")
        } else {
            // Under MPI_IN_PLACE there need not be types of what is sent.
            let length = match function.params.first() {
                Some(first) if first.kind == ParamKind::Choice && param.name == "sendtypes" => {
                    let buffer = format!("f_{}", first.name);
                    format!("if special::is_in_place({}) {{ 0 }} else {{ {length} }}", address(&buffer, form))
                }
                _ => length,
            };
            format!("let mut {value} = array::to_c({name}, {length}, |handle| {});\n", from_int("handle"))
        };
        if param.direction != Direction::In {
            self.requests(function, param, &format!("{value}.elements()"), form);
            let condition = if is_out { "if code == MPI_SUCCESS " } else { "" };
            self.behind += &format!(
                "{condition}{{ array::to_fortran(&mut {value}, {name}, |handle| {}); }}\n",
                to_int("handle")
            );
        }
        format!("{value}.as_mut_ptr()")
    }

    /// Tells the copies of sections what becomes of requests, whose handles C changes to `handles`.
    fn requests(&mut self, function: &Function, param: &Param, handles: &str, form: Form) {
        if !form.abi.has_descriptors() {
            return;
        }
        if param.kind != ParamKind::Object("MPI_Request") || param.direction != Direction::InOut {
            return;
        }
        let name = format!("f_{}", param.name);
        let len = param.length.as_ref().map_or("1".into(), |length| format!("*f_{length}"));
        let (to, call) = match function.name.as_str() {
            "Start" | "Startall" => (&mut self.before, format!("started({name}, {len})")),
            "Request_free" => (&mut self.before, format!("freed(*{name})")),
            _ => (&mut self.behind, format!("completed({name}, {handles})")),
        };
        *to += &format!("if copies::are_kept() {{ copies::{call}; }}\n");
    }
}

/// Where a buffer begins.
fn address(buffer: &str, form: Form) -> String {
    if form.describes_buffers() { format!("(*{buffer}).address") } else { buffer.into() }
}

/// The number of elements of an array that is converted.
fn length(param: &Param) -> Option<String> {
    let length = param.length.as_deref()?;
    Some(match length {
        "processes" | "dimensions" | "sources" | "destinations" => {
            format!("number_of::{length}(handle::from_int(*f_comm, MPI_Comm_fromint))")
        }
        param => format!("*f_{param}"),
    })
}

/// The statement that hands over the error code.
pub(crate) fn tell(form: Form) -> &'static str {
    if form.may_lack_code() { "if !ierror.is_null() { ierror.write(code); }" } else { "ierror.write(code);" }
}

/// The way of a buffer with gaps. MPICH's module does not ask the compiler to copy it.
fn way_of<'a>(function: &'a Function, param: &Param, form: Form) -> Gaps<'a> {
    match Gaps::of(function, param) {
        Gaps::Compiler if form.abi == Abi::Mpich => Gaps::Copied,
        way => way,
    }
}

pub(crate) fn may_have_gaps(function: &Function, param: &Param, form: Form) -> bool {
    param.is_buffer() && !matches!(way_of(function, param, form), Gaps::Ignored | Gaps::Compiler)
}
