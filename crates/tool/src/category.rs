//! Categories of variables and events.

use super::control::{Control, controls};
use super::event::EVENTS;
use super::performance::performances;

/// A category.
#[derive(Debug)]
pub struct Category {
    /// Its name.
    pub name: &'static str,
    /// What belongs to it, in words.
    pub meaning: &'static str,
    /// The categories below it, by their indices.
    pub below: &'static [i32],
}

const fn category(name: &'static str, meaning: &'static str) -> Category {
    Category { name, meaning, below: &[] }
}

/// All categories, in the order of their indices.
pub static CATEGORIES: &[Category] = &[
    Category { name: "heddle", meaning: "everything of Heddle", below: &[1, 2, 3, 9, 10, 11, 16] },
    category("heddle_model", "the thread-safety model and its parts"),
    category("heddle_settings", "settings that are no part of the model"),
    Category {
        name: "heddle_sections",
        meaning: "critical sections",
        below: &[4, 5, 6, 7, 8, 12, 13, 14, 15],
    },
    category("heddle_section_call", "the critical section of every call, under global"),
    category("heddle_section_process", "the critical section of all shared state, under brief-global"),
    category("heddle_section_request_pool", "the store of requests"),
    category("heddle_section_reference_counts", "the reference counts of objects"),
    category("heddle_section_vni", "the critical sections of the VNIs"),
    category("heddle_requests", "requests, and the objects that they use"),
    category("heddle_messages", "messages and their matching"),
    Category { name: "heddle_threads", meaning: "threads and communication paths", below: &[17] },
    category("heddle_section_arrivals", "the rings that are read, under per-object and lock-free"),
    category("heddle_section_matching", "the matching of all contexts, under per-object and lock-free"),
    category("heddle_section_rendezvous", "rendezvous state, under per-object and lock-free"),
    category("heddle_section_channel", "the channels to all peers, under per-object and lock-free"),
    category(
        "heddle_collectives",
        "the algorithms of collective operations, and where one takes over from another",
    ),
    category("heddle_sections_by_thread", "all critical sections together, for each thread"),
];

impl Category {
    /// The indices of its control variables.
    pub fn controls(&self) -> Vec<i32> {
        let home = |control: &Control| match control {
            control if control.is_of_model() => "heddle_model",
            control if control.is_of_collectives() => "heddle_collectives",
            _ => "heddle_settings",
        };
        (0..).zip(controls()).filter(|(_, it)| home(it) == self.name).map(|(index, _)| index).collect()
    }

    /// The indices of its performance variables.
    pub fn performances(&self) -> Vec<i32> {
        (0..).zip(performances()).filter(|(_, it)| it.category == self.name).map(|(index, _)| index).collect()
    }
}

impl Category {
    /// The indices of its event types.
    pub fn events(&self) -> Vec<i32> {
        (0..).zip(&EVENTS).filter(|(_, it)| it.category == self.name).map(|(index, _)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of those that do not belong to exactly one category, with the categories to which they
    /// belong.
    fn misplaced<'a>(
        names: impl Iterator<Item = &'a str>,
        of: fn(&Category) -> Vec<i32>,
    ) -> Vec<(&'a str, Vec<&'static str>)> {
        let homes = |index: i32| CATEGORIES.iter().filter(move |it| of(it).contains(&index));
        (0..)
            .zip(names)
            .map(|(index, name)| (name, homes(index).map(|it| it.name).collect::<Vec<_>>()))
            .filter(|(_, homes)| homes.len() != 1)
            .collect()
    }

    #[test]
    fn every_variable_event_and_category_has_its_place_once() {
        let mut below: Vec<i32> = CATEGORIES.iter().flat_map(|category| category.below).copied().collect();
        below.sort_unstable();
        assert_eq!(below, (1..CATEGORIES.len() as i32).collect::<Vec<_>>());
        let nothing = Vec::<(&str, Vec<&str>)>::new();
        assert_eq!(misplaced(controls().iter().map(|it| &*it.name), Category::controls), nothing);
        assert_eq!(misplaced(performances().iter().map(|it| &*it.name), Category::performances), nothing);
        assert_eq!(misplaced(EVENTS.iter().map(|it| it.name), Category::events), nothing);
    }

    #[test]
    fn every_category_has_something_and_a_name_of_its_own() {
        for category in CATEGORIES {
            let here = category.controls().len() + category.performances().len() + category.events().len();
            assert!(here + category.below.len() > 0, "{} is empty", category.name);
            assert_eq!(
                CATEGORIES.iter().filter(|it| it.name == category.name).count(),
                1,
                "{}",
                category.name
            );
        }
    }
}
