//! `gleaner machines` and `gleaner machine`.

use crate::api::{Api, escaped};
use crate::cli::{
    DrainArguments, MachineArguments, MachineName, MachineOwnerArguments, PlainArguments, PriceArguments,
};
use crate::columns::{Side, aligned, plural, shown};
use crate::failure::Failure;
use crate::{Outcome, moments, stdout};
use gleaner_wire::api::{MachineState, MachineView, TrustView};
use gleaner_wire::limits::REASON_BYTES_MAX;
use gleaner_wire::meant::meant;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Orders have a reason of 500 bytes at most.
const ORDERS_WIDTH: usize = 1000;

pub(crate) fn list(arguments: &PlainArguments) -> Outcome {
    let machines = Api::open(&arguments.grid)?.machines()?;
    if arguments.grid.json {
        return stdout::print_json(&machines);
    }
    stdout::print(table(&machines.machines))
}

pub(crate) fn order(arguments: &MachineArguments) -> Outcome {
    match arguments {
        MachineArguments::Pause(machine) => set("pause", "pause", machine),
        MachineArguments::Resume(machine) => set("resume", "resume", machine),
        MachineArguments::Drain(DrainArguments { why, machine }) => {
            if let Some(bytes) = why.as_ref().map(String::len).filter(|&bytes| bytes > REASON_BYTES_MAX) {
                let found = format!("--why: found {bytes} bytes; expected at most {REASON_BYTES_MAX}");
                return Err(Failure::Usage(found));
            }
            let query = why.as_ref().map_or_else(String::new, |why| format!("?why={}", escaped(why)));
            set("drain", &format!("drain{query}"), machine)
        }
        MachineArguments::Measure(machine) => tell("measure", machine),
        MachineArguments::Revoke(machine) => revoke(machine),
        MachineArguments::Forget(machine) => tell("forget", machine),
        MachineArguments::Price(arguments) => price(arguments),
        MachineArguments::Owner(arguments) => owner(arguments),
    }
}

fn owner(arguments: &MachineOwnerArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let MachineView { machine, owner, .. } = grid.set_owner(&arguments.name, arguments.owner.clone())?;
    if let (Some(owner), Ok(list)) = (&owner, grid.machines())
        && let Some(note) = new_owner(owner, &machine, &list.machines)
    {
        anstream::eprintln!("{note}");
    }
    if arguments.grid.json {
        return stdout::print_json(&json!({ "version": 1, "machine": machine, "owner": owner }));
    }
    let whose = owner.map_or_else(|| "its own".to_owned(), |owner| format!("one of {owner}'s"));
    stdout::print(format!("{machine}: {whose}\n"))
}

/// That no other machine has this owner, who has a vote more then: by mistake, where the name of another is near.
fn new_owner(owner: &str, machine: &str, machines: &[MachineView]) -> Option<String> {
    let others = machines.iter().filter(|view| view.machine != machine);
    let owners: BTreeSet<&str> = others.filter_map(|view| view.owner.as_deref()).collect();
    let other_case = owners.iter().find(|known| known.eq_ignore_ascii_case(owner));
    let meant = other_case
        .map_or_else(|| meant(owner, owners.iter().copied()), |known| format!("; did you mean {known}?"));
    let note = || format!("{owner} is a new owner, with a vote, and {machine} is the only machine{meant}");
    (!owners.contains(owner)).then(note)
}

fn price(arguments: &PriceArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let machine = grid.set_price(&arguments.name, arguments.credits)?;
    let MachineView { machine, price, .. } = machine;
    if arguments.grid.json {
        return stdout::print_json(&json!({ "version": 1, "machine": machine, "price": price }));
    }
    stdout::print(format!("{machine}: {price} credits for a million operations\n"))?;
    if grid.budget().is_ok_and(|budget| !budget.heeded) {
        anstream::eprintln!(
            "running costs nothing for now: the policy in force heeds no budget; `gleaner budget show` says more"
        );
    }
    Ok(())
}

/// An order that holds until it is taken back; whether anything is other than before is told.
fn set(order: &str, path: &str, machine: &MachineName) -> Outcome {
    let grid = Api::open(&machine.grid)?;
    let before = grid.machines()?.machines.into_iter().find(|view| view.machine == machine.name);
    let after = grid.machine(&machine.name, path)?;
    let holding = after.get("orders").cloned().unwrap_or_else(|| json!([]));
    let before = before.map(|before| before.orders);
    let changed = before.as_ref().is_none_or(|before| json!(before) != holding);
    let still = |order: &String| holding.as_array().is_some_and(|all| all.contains(&json!(order)));
    let over: Vec<String> = before.into_iter().flatten().filter(|order| !still(order)).collect();
    say(order, machine, changed, &over)
}

fn revoke(machine: &MachineName) -> Outcome {
    let grid = Api::open(&machine.grid)?;
    let before = grid.machines()?.machines.into_iter().find(|view| view.machine == machine.name);
    grid.machine(&machine.name, "revoke")?;
    say("revoke", machine, before.is_none_or(|before| before.state != MachineState::Revoked), &[])
}

/// Of an order that may have changed nothing, whether it did, and which earlier ones do not hold any more.
fn say(order: &str, machine: &MachineName, changed: bool, over: &[String]) -> Outcome {
    let name = &machine.name;
    if machine.grid.json {
        return stdout::print_json(
            &json!({ "version": 1, "machine": name, "order": order, "changed": changed, "over": over }),
        );
    }
    stdout::print(format!(
        "{order}: {name}{}\n",
        if changed { effect(order, over) } else { UNCHANGED.into() }
    ))
}

fn tell(order: &str, machine: &MachineName) -> Outcome {
    Api::open(&machine.grid)?.machine(&machine.name, order)?;
    if machine.grid.json {
        return stdout::print_json(&json!({ "version": 1, "machine": machine.name, "order": order }));
    }
    stdout::print(format!("{order}: {}{}\n", machine.name, effect(order, &[])))
}

const UNCHANGED: &str = "; nothing changed, it was so before";

/// What comes of an order that was taken, and which earlier ones do not hold any more: somebody said what those were for. Only the agent
/// knows when it may measure its machine.
fn effect(order: &str, over: &[String]) -> String {
    match (order, over) {
        ("measure", _) => {
            "; it does so when its owner does not need it, ten minutes after the last time at the earliest"
                .to_owned()
        }
        ("revoke" | "forget", _) => {
            "; what runs there ends, and runs again elsewhere within a minute or so".to_owned()
        }
        (_, []) => String::new(),
        (_, over) => format!("; no longer {}", shown(&over.join("; "), ORDERS_WIDTH)),
    }
}

fn table(machines: &[MachineView]) -> String {
    if machines.is_empty() {
        return "no machines: `gleaner token join` makes a token with which one can join\n".to_owned();
    }
    let headings = [
        ("MACHINE", Side::Left),
        ("STATE", Side::Left),
        ("TASKS", Side::Right),
        ("CORES", Side::Right),
        ("SLOTS", Side::Right),
        ("OWNER", Side::Right),
        ("CPU OPS/S", Side::Right),
        ("DISK B/S", Side::Right),
        ("NET B/S", Side::Right),
        ("MEMORY", Side::Right),
        ("DISK", Side::Right),
        ("PRICE", Side::Right),
    ];
    let rows = machines.iter().map(|machine| {
        let [cpu, disk, net] = machine.profile.speeds.map(|millions| scaled(millions * 1e6));
        vec![
            shown(&machine.machine, 32),
            machine.state.name().to_owned(),
            machine.tasks.to_string(),
            machine.profile.cores.to_string(),
            machine.profile.slots.to_string(),
            format!("{:.0}%", machine.owner_load * 100.0),
            cpu,
            disk,
            net,
            scaled(machine.profile.memory as f64),
            machine.profile.disk.map_or_else(|| "?".to_owned(), |bytes| scaled(bytes as f64)),
            machine.price.to_string(),
        ]
    });
    aligned(&headings, &rows.collect::<Vec<_>>()) + &reasons(machines) + &trusts(machines)
}

/// What answers of machines were worth, below the table, where any were compared.
fn trusts(machines: &[MachineView]) -> String {
    let mut by_trust: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for machine in machines {
        let Some(TrustView { row, agreed, wrong, last_wrong_s, alone }) = machine.trust else { continue };
        let last =
            last_wrong_s.map_or_else(String::new, |at_s| format!(", the last {}", moments::clock(at_s)));
        let asked = if alone { "asked alone, but for a task now and then" } else { "never asked alone" };
        let agreed = plural(agreed, "answer");
        let trust = format!("{agreed} agreed on, {row} in a row; {wrong} outvoted{last}; {asked}");
        by_trust.entry(trust).or_default().push(&machine.machine);
    }
    below(&by_trust)
}

/// Names of machines that one line has.
const NAMED: usize = 8;

/// Why machines take nothing, or another was turned away that said to be one of them, below the table, where there is room for it: those
/// with the same reason together.
fn reasons(machines: &[MachineView]) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for machine in machines {
        if let Some(why) = &machine.refused {
            by_reason.entry(why.clone()).or_default().push(&machine.machine);
        }
    }
    for machine in machines.iter().filter(|machine| machine.state != MachineState::Open) {
        let is_gone = matches!(machine.state, MachineState::Away | MachineState::Lost);
        let silent = machine
            .heard_s
            .filter(|_| is_gone)
            .map(|at_s| format!("not heard of since {}", moments::clock(at_s)));
        let says_so = |why: &str| silent.is_some() && why == "its agent is not connected";
        let why = machine.why.clone().filter(|why| !why.is_empty() && !says_so(why));
        let told = match (silent, why) {
            // What it said last may have changed since.
            (Some(silent), Some(why)) => Some(format!("{silent}; the last of it was: {why}")),
            (silent, why) => silent.or(why),
        };
        if let Some(told) = told {
            by_reason.entry(told).or_default().push(&machine.machine);
        }
    }
    below(&by_reason)
}

/// A line for each text, with the machines of which it holds.
fn below(told: &BTreeMap<String, Vec<&str>>) -> String {
    let told = told.iter().map(|(why, names)| {
        let mut text = names.iter().take(NAMED).map(|name| shown(name, 32)).collect::<Vec<_>>().join(", ");
        if names.len() > NAMED {
            text += &format!(" and {} more", names.len() - NAMED);
        }
        format!("{text}: {}\n", shown(why, 400))
    });
    let told: String = told.collect();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// Three digits and a letter for the power of a thousand.
fn scaled(number: f64) -> String {
    let mut scaled = number;
    for letter in ["", "k", "M", "G", "T"] {
        if scaled < 999.5 {
            let decimals = usize::from(scaled < 9.95 && !letter.is_empty());
            return format!("{scaled:.decimals$}{letter}");
        }
        scaled /= 1000.0;
    }
    format!("{scaled:.0}P")
}

#[cfg(test)]
mod tests {
    use super::{MachineView, effect, new_owner, reasons, scaled, table};
    use serde_json::json;

    /// Whoever asks for cores is given slots.
    #[test]
    fn a_machine_is_listed_with_its_slots_beside_its_cores() {
        let profile = json!({"speeds": [1.0, 1.0, 1.0], "cores": 2, "slots": 4, "memory": 1, "sandbox": {"Ok": ""},
            "user": "", "tags": [], "attributes": {}});
        let view = json!({"version": 1, "machine": "vm", "state": "open", "why": "", "profile": profile,
            "owner_load": 0.0, "price": 0.0, "tasks": 3, "sample": null, "heard_s": null});
        let machine: MachineView = serde_json::from_value(view).expect("a machine");
        let text = anstream::adapter::strip_str(&table(&[machine])).to_string();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0][2..5], ["TASKS", "CORES", "SLOTS"], "{text}");
        assert_eq!(lines[1][2..5], ["3", "2", "4"], "{text}");
    }

    #[test]
    fn machines_that_take_nothing_for_one_reason_are_told_together() {
        let profile = json!({"speeds": [1.0, 1.0, 1.0], "cores": 1, "slots": 1, "memory": 1, "sandbox": {"Ok": ""},
            "user": "", "tags": [], "attributes": {}});
        let machine = |name: &str, state: &str, why: &str| -> MachineView {
            let view = json!({"version": 1, "machine": name, "state": state, "why": why, "profile": profile,
                "owner_load": 0.0, "price": 0.0, "tasks": 0, "sample": null, "heard_s": null});
            serde_json::from_value(view).expect("a machine")
        };
        let machines = [
            machine("lab-01", "closed", "somebody is logged in and not idle"),
            machine("lab-02", "open", "open"),
            machine("lab-03", "closed", "somebody is logged in and not idle"),
            machine("lab-04", "away", ""),
        ];
        for (why, expected) in [("", ""), ("somebody works", "; the last of it was: somebody works")] {
            let silent = MachineView { heard_s: Some(0.0), ..machine("lab-05", "away", why) };
            let told = reasons(&[silent]);
            assert!(
                told.starts_with("\nlab-05: not heard of since 1970-")
                    && told.trim_end().ends_with(&format!("00:00{expected}")),
                "{told}"
            );
        }
        assert_eq!(reasons(&machines), "\nlab-01, lab-03: somebody is logged in and not idle\n");
        let many: Vec<_> = (0..10).map(|n| machine(&format!("m{n}"), "closed", "its disk is full")).collect();
        assert!(reasons(&many).contains("m7 and 2 more: its disk is full"));
        assert_eq!(reasons(&machines[1..2]), "");
        // A copy that was turned away shows on an open machine, and beside what closes one.
        let copied = |name: &str, state: &str, why: &str| MachineView {
            refused: Some("its folder was copied".to_owned()),
            ..machine(name, state, why)
        };
        assert_eq!(
            reasons(&[copied("m1", "open", "its folder was copied")]),
            "\nm1: its folder was copied\n"
        );
        let both = reasons(&[copied("m1", "closed", "its disk is full")]);
        assert_eq!(both, "\nm1: its disk is full\nm1: its folder was copied\n");
    }

    #[test]
    fn what_an_order_takes_back_is_told() {
        let over = ["paused by user root".to_owned(), "closed by user ada: moves".to_owned()];
        assert_eq!(effect("resume", &[]), "");
        assert_eq!(effect("resume", &over), "; no longer paused by user root; closed by user ada: moves");
    }

    #[test]
    fn an_owner_whom_no_other_machine_has_is_told_of() {
        let machine = |name: &str, owner: Option<&str>| -> MachineView {
            let profile = json!({"speeds": [1.0, 1.0, 1.0], "cores": 1, "slots": 1, "memory": 1, "sandbox": {"Ok": ""},
                "user": "", "tags": [], "attributes": {}});
            let view = json!({"version": 1, "machine": name, "state": "open", "why": "", "profile": profile,
                "owner_load": 0.0, "price": 0.0, "tasks": 0, "sample": null, "heard_s": null, "owner": owner});
            serde_json::from_value(view).expect("a machine")
        };
        let machines = [machine("m1", Some("ADA")), machine("m2", Some("ada")), machine("m3", None)];
        let only = "is a new owner, with a vote, and m1 is the only machine";
        for (owner, expected) in [
            ("ada", None),
            ("ADA", Some(format!("ADA {only}; did you mean ada?"))),
            ("adda", Some(format!("adda {only}; did you mean ada?"))),
            ("eve-and-bob", Some(format!("eve-and-bob {only}"))),
        ] {
            assert_eq!(new_owner(owner, "m1", &machines), expected);
        }
    }

    #[test]
    fn an_order_that_may_be_followed_late_says_so() {
        assert!(effect("forget", &[]).starts_with("; what runs there ends"));
        let told = effect("measure", &[]);
        assert!(told.ends_with("ten minutes after the last time at the earliest"), "{told}");
    }

    #[test]
    fn three_digits_are_enough() {
        for (number, expected) in [
            (0.0, "0"),
            (999.0, "999"),
            (1000.0, "1.0k"),
            (12_345.0, "12k"),
            (999_900.0, "1.0M"),
            (8.4e9, "8.4G"),
        ] {
            assert_eq!(scaled(number), expected);
        }
    }
}
