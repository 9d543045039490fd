//! The table of counters, which each process prints when it ends if `HEDDLE_STATS` is set.

use heddle_message::domain::Domain;
use heddle_message::request;
use heddle_model::Path;
use heddle_model::counters::{self, CountedEvent, Entry, Section, SectionTotals};
use heddle_settings::Settings;
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints the table to standard error, in one piece.
pub(crate) fn print(settings: &Settings, domain: &Domain) {
    let table = table(settings, domain);
    // A failure to write cannot be reported anywhere, so it is ignored.
    let _ = std::io::stderr().write_all(table.as_bytes());
}

fn table(settings: &Settings, domain: &Domain) -> String {
    let totals = counters::totals();
    let (threads, _) = counters::threads();
    let mut out = format!(
        "Heddle: rank {} of {}, model {}, VNIs {} (in use {}), threads {threads}\n",
        domain.rank(),
        domain.size(),
        settings.model,
        domain.vnis().len(),
        domain.vnis_in_use().count(),
    );
    let sections = Section::all().map(|section| (label(section), totals.section(section)));
    let mut rows: Vec<(String, SectionTotals)> =
        sections.filter(|(_, counted)| *counted != SectionTotals::default()).collect();
    match rows.len() {
        0 => out += "  no section was entered\n",
        1 => {}
        _ => rows.push(("all".to_owned(), totals.all_sections())),
    }
    let places = counters::by_place();
    let threads = places.iter().enumerate().filter(|(_, counted)| **counted != SectionTotals::default());
    if threads.clone().count() > 1 {
        rows.extend(threads.map(|(place, counted)| (format!("thread {place}"), *counted)));
    }
    if !rows.is_empty() {
        let _ = writeln!(
            out,
            "  {:<16} {:>12} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10}",
            "section",
            "issue",
            "productive",
            "contended",
            "waited ms",
            "progress",
            "productive",
            "contended",
            "waited ms",
            "refused",
            "for others",
            "hand-overs",
            "package",
            "machine",
            "biases given",
            "revoked",
            "left out",
        );
    }
    for (name, row) in &rows {
        let _ = write!(out, "  {name:<16}");
        for (path, entries, productive) in [
            (Path::Main, Entry::Main, row.productive_main()),
            (Path::Progress, Entry::Progress, row.count(Entry::Productive)),
        ] {
            let _ = write!(
                out,
                " {:>12} {:>10} {:>10} {:>10.3}",
                row.count(entries),
                percentage(productive, row.count(entries)),
                row.count(Entry::contended(path)),
                row.waited_ns_on(path) as f64 / 1e6,
            );
        }
        let _ = writeln!(
            out,
            " {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10} {:>10}",
            row.count(Entry::Refused),
            row.count(Entry::ForOthers),
            row.handovers(),
            row.count(Entry::HandoverPackage),
            row.count(Entry::HandoverMachine),
            row.count(Entry::BiasGiven),
            row.count(Entry::BiasRevoked),
            row.count(Entry::LeftOut),
        );
    }
    let _ = writeln!(
        out,
        "  requests {} (live {}, complete {}), unexpected messages {} (waiting {}), matching steps {}, \
         collections {} (marks {}, sweeps {})",
        totals.events(CountedEvent::RequestTaken),
        totals.live_requests(),
        request::complete_and_not_freed(),
        totals.events(CountedEvent::Unexpected),
        totals.waiting_messages(),
        totals.events(CountedEvent::MatchingStep),
        totals.events(CountedEvent::Collection),
        totals.events(CountedEvent::CollectionMark),
        totals.events(CountedEvent::CollectionSweep),
    );
    let _ = writeln!(
        out,
        "  communicators whose self messages were sharded {}, pinned {}; channels whose messages were spread {}, \
         VNIs that took theirs back {}; accumulate locks closed or opened {}",
        totals.events(CountedEvent::SelfMessagesSharded),
        totals.events(CountedEvent::SelfMessagesPinned),
        totals.events(CountedEvent::ChannelSpread),
        totals.events(CountedEvent::VniGathered),
        totals.events(CountedEvent::AccumulateLockChanged),
    );
    let fabric = domain.fabric();
    if fabric.spans_machines() {
        let strangers = fabric.strangers();
        let _ = writeln!(
            out,
            "  ranks on this machine {}, remote reads {}, remote copies {}, packets of strangers {}, \
             strangers turned away {}",
            fabric.local_ranks().len(),
            totals.events(CountedEvent::RemoteRead),
            totals.events(CountedEvent::RemoteCopy),
            strangers.packets,
            strangers.turned_away,
        );
    }
    out
}

fn label(section: Section) -> String {
    match section {
        Section::Vni(number) => format!("VNI {number}"),
        other => other.name().replace('_', " "),
    }
}

fn percentage(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 / whole as f64 * 100.0) }
}
