//! Categories.

use super::store_indices;
use crate::argument::{ListOut, Out, Text, TextOut};
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

#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub(crate) fn t_category_get_info(
    cat_index: c_int,
    name: TextOut,
    name_len: Out<c_int>,
    desc: TextOut,
    desc_len: Out<c_int>,
    num_cvars: Out<c_int>,
    num_pvars: Out<c_int>,
    num_categories: Out<c_int>,
) -> Result<()> {
    let category = of(cat_index)?;
    name.offer(category.name, name_len);
    desc.offer(category.meaning, desc_len);
    num_cvars.offer(category.controls().len() as c_int);
    num_pvars.offer(category.performances().len() as c_int);
    num_categories.offer(category.below.len() as c_int);
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
