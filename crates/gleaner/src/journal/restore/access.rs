//! What `gleaner journal restore` says of users, tokens and machines.

use gleaner_server::restoring::{Access, Names};

/// So many names are shown of each list.
const SHOWN_MAX: usize = 20;

const AGAIN: &str = "  Who is not to come back has to be removed or revoked again before anybody else reaches the coordinator: docs/when-things-break.md, \
                     \"After a restore\", says how.\n";
const UNKNOWN: &str = "  users that were removed, tokens that were replaced or withdrawn and machines that were revoked or forgotten in rows that cannot \
                       be read are let in again: which ones cannot be said\n";

/// A line for each thing that changes.
pub(super) fn told(access: Option<&Access>, is_whole: bool) -> String {
    let mut text = access.map(lines).unwrap_or_default();
    if !is_whole {
        text += UNKNOWN;
    }
    if !is_whole || access.is_some_and(brings_back) {
        text += AGAIN;
    }
    text
}

fn lines(access: &Access) -> String {
    let Access {
        users_back,
        users_gone,
        tokens_replaced,
        roles,
        quotas,
        join_tokens_back,
        join_tokens_gone,
        machines_back,
        machine_orders,
        policy,
    } = access;
    let lists = [
        ("users that were removed since, and are let in again", users_back),
        (
            "users whose token was replaced since: the old one is good again, and the new one is not",
            tokens_replaced,
        ),
        ("users that were added since, and are not known any more", users_gone),
        ("users with the role of then", roles),
        ("quotas as of then", quotas),
        ("machines that were revoked or forgotten since, and are let in again", machines_back),
        ("machines with the price, the owner, or the orders to close and pause of then", machine_orders),
    ];
    let mut text: String = lists.into_iter().map(|(what, names)| line(what, names)).collect();
    let counts = [
        ("join tokens that were used, used up or removed since, and are good again", join_tokens_back),
        ("join tokens that were issued since, and are not known any more", join_tokens_gone),
    ];
    text.extend(
        counts
            .into_iter()
            .filter(|(_, count)| **count > 0)
            .map(|(what, count)| format!("  {what}: {count}\n")),
    );
    if *policy {
        text += "  the policy, with its budget, is that of then\n";
    }
    text
}

fn line(what: &str, Names { count, names }: &Names) -> String {
    if *count == 0 {
        return String::new();
    }
    let shown = names.len().min(SHOWN_MAX);
    let more = if *count > shown { ", …" } else { "" };
    format!("  {what}, {count} in all: {}{more}\n", names[..shown].join(", "))
}

/// Whether anybody has access again who had lost it.
fn brings_back(access: &Access) -> bool {
    let lists = [
        &access.users_back,
        &access.tokens_replaced,
        &access.roles,
        &access.machines_back,
        &access.machine_orders,
    ];
    access.join_tokens_back > 0 || lists.iter().any(|names| names.count > 0)
}
