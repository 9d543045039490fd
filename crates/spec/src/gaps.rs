//! Buffers that are array sections with gaps, such as `x(::2)`: what the subroutines of `mpi_f08` do with
//! them (MPI 5.0, section 19.1.12).

use crate::function::{Direction, Function, Param, ParamKind};

/// The way in which a buffer with gaps goes to C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps<'a> {
    /// Only its address counts.
    Ignored,
    /// It is an error: the buffer is memory that MPI keeps.
    Refused,
    /// The compiler copies the section before and after the call.
    Compiler,
    /// A datatype describes the section; where none can, the library copies it.
    Described {
        /// The number of elements, if they all belong to one message. Otherwise the buffer has several parts.
        count: Option<&'a Param>,
        /// The type of the elements.
        datatype: &'a Param,
        /// True if a copy can take its place: it is known when the operation is complete, and its parts are
        /// not sent separately.
        may_be_copied: bool,
    },
    /// The library copies it, and back when the request is complete.
    Copied,
}

impl Gaps<'_> {
    /// The way of a buffer of a function.
    pub fn of<'a>(function: &'a Function, buffer: &Param) -> Gaps<'a> {
        let name = function.name.as_str();
        // A truth value is a scalar.
        if name == "Free_mem" || name.ends_with("_fortran_booleans") {
            return Gaps::Ignored;
        }
        if buffer.kind == ParamKind::Address {
            return Gaps::Refused;
        }
        let has_one_element = matches!(name, "Fetch_and_op" | "Compare_and_swap");
        if has_one_element || matches!(name, "Get_address" | "Win_detach") || name.ends_with("_end") {
            return Gaps::Ignored;
        }
        let behind = function.params.iter().skip_while(|param| param.name != buffer.name).skip(1);
        let behind: Vec<&Param> = behind.take_while(|param| param.kind != ParamKind::Choice).collect();
        let is_datatype =
            |param: &&Param| param.kind == ParamKind::Object("MPI_Datatype") && param.dimensions == 0;
        let datatype = behind.iter().position(is_datatype);
        // Predefined operators take predefined types alone.
        let reduces =
            |at: usize| behind.get(at + 1).is_some_and(|param| param.kind == ParamKind::Object("MPI_Op"));
        match datatype.filter(|&at| !reduces(at)) {
            Some(at) => {
                let has_parts = ["gather", "scatter", "alltoall"];
                let has_parts = has_parts.iter().any(|word| name.to_lowercase().contains(word));
                let is_count = at == 1 && behind[0].kind == ParamKind::Count && !has_parts;
                let ends_unseen = function.is_one_sided() && function.request().is_none();
                let has_partitions = matches!(name, "Psend_init" | "Precv_init");
                Gaps::Described {
                    count: is_count.then_some(behind[0]),
                    datatype: behind[at],
                    may_be_copied: !(ends_unseen || has_partitions || name.ends_with("_begin")),
                }
            }
            None if function.request().is_some() => Gaps::Copied,
            None => Gaps::Compiler,
        }
    }
}

impl Function {
    /// The request of an operation that this function begins.
    pub fn request(&self) -> Option<&Param> {
        let is_request = |param: &&Param| {
            param.kind == ParamKind::Object("MPI_Request") && param.direction == Direction::Out
        };
        self.params.iter().find(is_request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function_table::Functions;

    #[test]
    fn buffers_are_told_apart() {
        let functions = Functions::parse(crate::FUNCTIONS_TABLE).expect("the table is well formed");
        let gaps = |function: &str, buffer: &str| {
            let function = functions.all().find(|f| f.name == function).expect(function);
            let buffer = function.params.iter().find(|param| param.name == buffer).expect(buffer);
            match Gaps::of(function, buffer) {
                Gaps::Described { count, datatype, may_be_copied } => {
                    let copied = if may_be_copied { "" } else { " never" };
                    format!("{} {}{copied}", count.map_or("-", |count| &count.name), datatype.name)
                }
                other => format!("{other:?}"),
            }
        };
        for (function, buffer, expected) in [
            ("Isend", "buf", "count datatype"),
            ("Sendrecv", "recvbuf", "recvcount recvtype"),
            ("Pack", "outbuf", "Compiler"),
            ("Unpack", "outbuf", "outcount datatype"),
            ("Psend_init", "buf", "- datatype never"),
            ("Igatherv", "recvbuf", "- recvtype"),
            ("Allgather", "sendbuf", "- sendtype"),
            ("Alltoallw", "sendbuf", "Compiler"),
            ("Ialltoallw", "sendbuf", "Copied"),
            ("Allreduce", "sendbuf", "Compiler"),
            ("Iallreduce", "recvbuf", "Copied"),
            ("Ireduce_scatter", "recvbuf", "Copied"),
            ("Accumulate", "origin_addr", "origin_count origin_datatype never"),
            ("Rput", "origin_addr", "origin_count origin_datatype"),
            ("Get_accumulate", "result_addr", "result_count result_datatype never"),
            ("Fetch_and_op", "result_addr", "Ignored"),
            ("Win_create", "base", "Refused"),
            ("Free_mem", "base", "Ignored"),
            ("Abi_get_fortran_booleans", "logical_true", "Ignored"),
            ("Abi_set_fortran_booleans", "logical_false", "Ignored"),
        ] {
            assert_eq!(gaps(function, buffer), expected, "{function} {buffer}");
        }
    }
}
