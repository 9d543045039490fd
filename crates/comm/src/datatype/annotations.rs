//! Attributes and names of datatypes. Derived datatypes carry them; those of the predefined datatypes, which
//! live for ever, are kept here.

use super::object::{self, DERIVED, TypeObject};
use crate::attribute::Attributes;
use crate::error::Result;
use heddle_objects::table::Ref;
use heddle_spec::constants as mpi;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct Annotations {
    attributes: Attributes,
    /// Set by the program, if it did.
    name: Mutex<Option<String>>,
}

static PREDEFINED: Mutex<BTreeMap<usize, Arc<Annotations>>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_predefined(handle: usize) -> Arc<Annotations> {
    lock(&PREDEFINED).entry(handle).or_default().clone()
}

/// The attributes of a datatype.
#[derive(Debug)]
pub struct TypeAttributes(Owner);

#[derive(Debug)]
enum Owner {
    Predefined(Arc<Annotations>),
    Derived(Ref<TypeObject>),
}

impl Deref for TypeAttributes {
    type Target = Attributes;

    fn deref(&self) -> &Attributes {
        match &self.0 {
            Owner::Predefined(annotations) => &annotations.attributes,
            Owner::Derived(object) => &object.attributes,
        }
    }
}

/// The attributes of the datatype with this handle.
///
/// # Errors
/// `MPI_ERR_TYPE` for anything that is not a live datatype's handle.
pub fn of_type(handle: usize) -> Result<TypeAttributes> {
    if let Some(object) = DERIVED.get(handle) {
        return Ok(TypeAttributes(Owner::Derived(object)));
    }
    object::from_handle(handle)?;
    Ok(TypeAttributes(Owner::Predefined(of_predefined(handle))))
}

/// The name of the datatype with this handle; `MPI_DATATYPE_NULL` has one too.
///
/// # Errors
/// `MPI_ERR_TYPE` for anything that is not a live datatype's handle.
pub fn type_name(handle: usize) -> Result<String> {
    if let Some(object) = DERIVED.get(handle) {
        return Ok(lock(&object.name).clone());
    }
    let standard = match handle {
        mpi::MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL",
        _ => object::from_handle(handle)?.predefined_basic().map_or("", |basic| basic.name),
    };
    let given = lock(&PREDEFINED).get(&handle).and_then(|annotations| lock(&annotations.name).clone());
    Ok(given.unwrap_or_else(|| standard.to_owned()))
}

/// Names a datatype; a name longer than `MPI_MAX_OBJECT_NAME` allows is cut off.
///
/// # Errors
/// `MPI_ERR_TYPE` for anything that is not a live datatype's handle.
pub fn set_type_name(handle: usize, name: &str) -> Result<()> {
    let name = &name[..name.floor_char_boundary(mpi::MPI_MAX_OBJECT_NAME as usize - 1)];
    if let Some(object) = DERIVED.get(handle) {
        name.clone_into(&mut lock(&object.name));
        return Ok(());
    }
    object::from_handle(handle)?;
    *lock(&of_predefined(handle).name) = Some(name.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::{AttributeCarrier, Copy, Delete, create};

    #[test]
    fn predefined_datatypes_have_names_and_attributes() {
        for (name, handle) in mpi::DATATYPES {
            let name = match *name {
                "MPI_LONG_LONG" => "MPI_LONG_LONG_INT",
                "MPI_C_FLOAT_COMPLEX" => "MPI_C_COMPLEX",
                name => name,
            };
            assert_eq!(type_name(*handle).expect("live"), name);
        }
        assert_eq!(type_name(mpi::MPI_DATATYPE_NULL).expect("named"), "MPI_DATATYPE_NULL");
        set_type_name(mpi::MPI_CHAR, "letter").expect("live");
        assert_eq!(type_name(mpi::MPI_CHAR).expect("live"), "letter");
        let key = create(AttributeCarrier::Type, Copy::Always, Delete::Nothing, 0).expect("room");
        let attributes = of_type(mpi::MPI_CHAR).expect("live");
        attributes.set(AttributeCarrier::Type, mpi::MPI_CHAR, key, 7).expect("valid");
        let again = of_type(mpi::MPI_CHAR).expect("live");
        assert_eq!(again.get(AttributeCarrier::Type, key).expect("valid"), Some(7));
        for wrong in [12, usize::MAX, mpi::MPI_COMM_WORLD] {
            assert_eq!(of_type(wrong).expect_err("none").code(), mpi::MPI_ERR_TYPE);
            assert_eq!(type_name(wrong).expect_err("none").code(), mpi::MPI_ERR_TYPE);
            assert_eq!(set_type_name(wrong, "x").expect_err("none").code(), mpi::MPI_ERR_TYPE);
        }
        assert_eq!(of_type(mpi::MPI_DATATYPE_NULL).expect_err("null").code(), mpi::MPI_ERR_TYPE);
    }
}
