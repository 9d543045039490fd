//! How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell.

use crate::TypeRef;

/// The constructor that made a datatype, with the value the ABI gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Combiner {
    /// A predefined type.
    Named = 101,
    /// `MPI_Type_dup`.
    Dup = 102,
    /// `MPI_Type_contiguous`.
    Contiguous = 103,
    /// `MPI_Type_vector`.
    Vector = 104,
    /// `MPI_Type_create_hvector`.
    Hvector = 105,
    /// `MPI_Type_indexed`.
    Indexed = 106,
    /// `MPI_Type_create_hindexed`.
    Hindexed = 107,
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock = 108,
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock = 109,
    /// `MPI_Type_create_struct`.
    Struct = 110,
    /// `MPI_Type_create_subarray`.
    Subarray = 111,
    /// `MPI_Type_create_darray`.
    Darray = 112,
    /// `MPI_Type_create_f90_real`.
    F90Real = 113,
    /// `MPI_Type_create_f90_complex`.
    F90Complex = 114,
    /// `MPI_Type_create_f90_integer`.
    F90Integer = 115,
    /// `MPI_Type_create_resized`.
    Resized = 116,
    /// `MPI_Type_get_value_index`.
    ValueIndex = 117,
}

/// Which form of a constructor was called; it decides in which arrays its arguments are given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// `MPI_Type_x`: counts are `int`, displacements in bytes are `MPI_Aint`.
    Small,
    /// `MPI_Type_x_c`: counts and displacements are `MPI_Count`.
    Large,
}

/// A datatype's constructor and its arguments, in the order the standard gives them back.
#[derive(Debug)]
pub struct Contents {
    /// The constructor.
    pub combiner: Combiner,
    /// Arguments of type `int`.
    pub integers: Vec<i64>,
    /// Arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`.
    pub counts: Vec<i64>,
    /// The datatypes it was made from.
    pub types: Vec<TypeRef>,
}

impl Contents {
    pub(crate) const NAMED: Self = Self {
        combiner: Combiner::Named,
        integers: Vec::new(),
        addresses: Vec::new(),
        counts: Vec::new(),
        types: Vec::new(),
    };

    /// `sizes` are `int` in the small form, `displacements` are `MPI_Aint` there; the large form gives
    /// back both as counts, sizes first.
    pub(crate) fn new(
        combiner: Combiner,
        form: Form,
        sizes: Vec<i64>,
        displacements: Vec<i64>,
        types: Vec<TypeRef>,
    ) -> Self {
        let (integers, addresses, counts) = match form {
            Form::Small => (sizes, displacements, Vec::new()),
            Form::Large => {
                let mut counts = sizes;
                counts.extend(displacements);
                (Vec::new(), Vec::new(), counts)
            }
        };
        Self { combiner, integers, addresses, counts, types }
    }
}
