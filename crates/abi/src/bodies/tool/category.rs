//! Categories.

use super::store_indices;
use crate::argument::{ListOut, Out, TCategoryGetInfoArguments, Text};
use crate::error::Result;
use heddle_tool::{self as tool, CATEGORIES, Category};
use std::ffi::c_int;

fn of(cat_index: c_int) -> Result<&'static Category> {
    tool::check()?;
    tool::at(CATEGORIES, cat_index)
}

pub(crate) fn t_category_get_num(num_cat: Out<c_int>) -> Result<()> {
    tool::check()?;
    num_cat.set(CATEGORIES.len() as c_int)
}

/// Categories never change.
pub(crate) fn t_category_changed(update_number: Out<c_int>) -> Result<()> {
    tool::check()?;
    update_number.set(0)
}

pub(crate) fn t_category_get_index(name: Text<'_>, cat_index: Out<c_int>) -> Result<()> {
    tool::check()?;
    let name = name.get()?;
    cat_index.set(tool::index_of(CATEGORIES, name, |category| category.name == name)?)
}

pub(crate) fn t_category_get_info(call: TCategoryGetInfoArguments) -> Result<()> {
    let category = of(call.cat_index)?;
    call.name.offer(category.name, call.name_len);
    call.desc.offer(category.meaning, call.desc_len);
    call.num_cvars.offer(category.controls().len() as c_int);
    call.num_pvars.offer(category.performances().len() as c_int);
    call.num_categories.offer(category.below.len() as c_int);
    Ok(())
}

pub(crate) fn t_category_get_num_events(cat_index: c_int, num_events: Out<c_int>) -> Result<()> {
    num_events.set(of(cat_index)?.events().len() as c_int)
}

pub(crate) fn t_category_get_cvars(cat_index: c_int, len: c_int, indices: ListOut<'_, c_int>) -> Result<()> {
    store_indices(&of(cat_index)?.controls(), len, indices)
}

pub(crate) fn t_category_get_pvars(cat_index: c_int, len: c_int, indices: ListOut<'_, c_int>) -> Result<()> {
    store_indices(&of(cat_index)?.performances(), len, indices)
}

pub(crate) fn t_category_get_categories(
    cat_index: c_int,
    len: c_int,
    indices: ListOut<'_, c_int>,
) -> Result<()> {
    store_indices(of(cat_index)?.below, len, indices)
}

pub(crate) fn t_category_get_events(cat_index: c_int, len: c_int, indices: ListOut<'_, c_int>) -> Result<()> {
    store_indices(&of(cat_index)?.events(), len, indices)
}
