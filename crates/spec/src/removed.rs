//! The names that MPI 3.0 removed. `mpi.h` declares them so that the compiler names the successor where a
//! program uses one; the library does not have them. A program that brings a macro of such a name is left
//! alone.

use std::fmt::Write;

/// The attribute that makes each use an error with a message. `unavailable` is of clang and of GCC since 12;
/// `error` is for functions only.
const OPENING: &str = "
/* Names that MPI 3.0 removed: the compiler names their successors. */
#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define MPI_ABI_REMOVED(successor) __attribute__((unavailable(\"removed in MPI 3.0, use \" successor)))
#define MPI_ABI_REMOVED_TYPES 1
#endif
#endif
#if !defined(MPI_ABI_REMOVED) && defined(__GNUC__)
#define MPI_ABI_REMOVED(successor) __attribute__((error(\"removed in MPI 3.0, use \" successor)))
#endif
#ifdef MPI_ABI_REMOVED
";

/// Name, parameters, successor.
const FUNCTIONS: [(&str, &str, &str); 10] = [
    ("MPI_Address", "void *location, MPI_Aint *address", "MPI_Get_address"),
    (
        "MPI_Errhandler_create",
        "MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler",
        "MPI_Comm_create_errhandler",
    ),
    ("MPI_Errhandler_get", "MPI_Comm comm, MPI_Errhandler *errhandler", "MPI_Comm_get_errhandler"),
    ("MPI_Errhandler_set", "MPI_Comm comm, MPI_Errhandler errhandler", "MPI_Comm_set_errhandler"),
    ("MPI_Type_extent", "MPI_Datatype datatype, MPI_Aint *extent", "MPI_Type_get_extent"),
    (
        "MPI_Type_hindexed",
        "int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype",
        "MPI_Type_create_hindexed",
    ),
    (
        "MPI_Type_hvector",
        "int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype",
        "MPI_Type_create_hvector",
    ),
    ("MPI_Type_lb", "MPI_Datatype datatype, MPI_Aint *displacement", "MPI_Type_get_extent"),
    (
        "MPI_Type_struct",
        "int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype",
        "MPI_Type_create_struct",
    ),
    ("MPI_Type_ub", "MPI_Datatype datatype, MPI_Aint *displacement", "MPI_Type_get_extent"),
];

/// Declaration without the name, name, successor.
const OTHERS: [(&str, &str, &str); 6] = [
    ("typedef MPI_Comm_errhandler_function", "MPI_Handler_function", "MPI_Comm_errhandler_function"),
    ("extern const MPI_Datatype", "MPI_LB", "MPI_Type_create_resized"),
    ("extern const MPI_Datatype", "MPI_UB", "MPI_Type_create_resized"),
    ("extern const int", "MPI_COMBINER_HINDEXED_INTEGER", "MPI_COMBINER_HINDEXED"),
    ("extern const int", "MPI_COMBINER_HVECTOR_INTEGER", "MPI_COMBINER_HVECTOR"),
    ("extern const int", "MPI_COMBINER_STRUCT_INTEGER", "MPI_COMBINER_STRUCT"),
];

/// The part of `mpi.h`.
pub(crate) fn text() -> String {
    let mut out = String::from(OPENING);
    for (name, params, successor) in FUNCTIONS {
        declare(&mut out, name, &format!("int {name}({params})"), successor);
    }
    out += "#ifdef MPI_ABI_REMOVED_TYPES\n";
    for (what, name, successor) in OTHERS {
        declare(&mut out, name, &format!("{what} {name}"), successor);
    }
    out += "#endif\n#endif\n";
    out
}

fn declare(out: &mut String, name: &str, declaration: &str, successor: &str) {
    writeln!(out, "#ifndef {name}\n{declaration} MPI_ABI_REMOVED(\"{successor}\");\n#endif")
        .expect("a String takes everything");
}
