//! Peers that lie, flood, or fall silent; letters that are lost. Nobody else is hurt, and what was refused is shown.

use super::grids::{of, peer, random, recipe, run_checked, setup};
use crate::basics::{at, seconds};
use gleaner_core::{Seek, Want};
use gleaner_sim::REFUSED_MAX;
use gleaner_sim::Way;
use gleaner_sim::peers::{Forged, Loan, PeersOutcome, PeersSetup, Silence, Word};
use gleaner_testkit::random::Choices;
use gleaner_units::{MachineClassId, RunId, TaskClassId, TaskId};

/// To the end, with all tasks done; the outcome, and what was refused.
fn run(setup: &PeersSetup) -> (PeersOutcome, Vec<String>) {
    let parties = run_checked(of(setup, recipe("dasilva/greedy", &[])), setup);
    assert_eq!(parties.outside().tasks_left(), 0);
    let said = parties.outside().refused().iter();
    let said = said.map(|refused| format!("{} from {}: {}", refused.by, refused.from, refused.why)).collect();
    (parties.outside().outcome(), said)
}

/// Two honest peers, of which the first borrows of the second; a third that lies.
fn with_liar(words: &[Word]) -> PeersSetup {
    let mut setup = setup(&[&[1.0], &[1.0, 1.0], &[1.0]], &[(0.0, 0, &[10.0; 4]), (30.0, 0, &[10.0; 4])]);
    let forged = |word: &Word, index: usize, to| Forged {
        at: at(1.0 + index as f64 / 1e3),
        from: peer(2),
        to: peer(to),
        word: word.clone(),
    };
    let words = words.iter().enumerate();
    setup.forged = words.flat_map(|(index, word)| [0, 1, 3].map(|to| forged(word, index, to))).collect();
    setup
}

#[test]
fn garbage_is_refused_and_hurts_nobody() {
    let (run_id, far) = (RunId::new(TaskId::FIRST, 1), RunId::new(TaskId::new(4_000_000_000), 9));
    let class = TaskClassId::FIRST;
    let words = vec![
        Word::Ended { loan: Loan(1), run: run_id, finished: true },
        Word::Ended { loan: Loan(77), run: far, finished: true },
        Word::Run { loan: Loan(1), run: run_id },
        Word::Run { loan: Loan(0), run: far },
        Word::Stop { loan: Loan(1), run: run_id },
        Word::Stop { loan: Loan(9), run: far },
        Word::GivenBack(Loan(1)),
        Word::Recalled(Loan(1)),
        Word::Gone(peer(0)),
        Word::NothingLent { class, seek: Seek::First },
        Word::Wanted(vec![Want { by: peer(0), class, workers: 3, seek: Seek::First }]),
        Word::Lent { loan: Loan(5), class: MachineClassId::new(900) },
        Word::Wants { class: TaskClassId::new(900), workers: 1, seek: Seek::First, received: 0 },
        Word::Offers { best: Some(MachineClassId::new(900)) },
    ];
    let (outcome, refused) = run(&with_liar(&words));
    let (without, nothing) =
        run(&setup(&[&[1.0], &[1.0, 1.0]], &[(0.0, 0, &[10.0; 4]), (30.0, 0, &[10.0; 4])]));
    assert!(nothing.is_empty());
    for needle in [
        "a loan that never was",
        "a worker of a kind that does not exist",
        "wants for tasks that do not exist",
        "workers of a kind that does not exist",
        "not what a peer says to another",
        "not for the discovery service",
        "another's loan",
    ] {
        assert!(refused.iter().any(|line| line.contains(needle)), "{needle}: {refused:#?}");
    }
    // What it is answered goes to a desk that knows of no lie.
    let honest_ones = refused.iter().filter(|line| !line.starts_with("party 2"));
    assert!(honest_ones.clone().all(|line| line.contains("from party 2")), "{refused:#?}");
    assert_eq!(outcome.jobs, without.jobs);
    assert!(outcome.makespan <= without.makespan, "no worse than without the liar and its worker");
}

#[test]
fn a_worker_that_does_not_exist_costs_a_letter() {
    let setup = with_liar(&[Word::Lent { loan: Loan(50), class: MachineClassId::FIRST }]);
    let (outcome, refused) = run(&setup);
    assert_eq!(outcome.tasks, 8);
    assert!(refused.iter().any(|line| line.contains("a loan that never was")), "{refused:?}");
}

/// A borrower's favours to a lender, by what it says of the work.
fn owed_after(word: Option<(f64, Word)>) -> (f64, PeersOutcome, Vec<String>) {
    // Peer 0 has four tasks of 10 s, and borrows peer 1's two workers for two of them.
    let mut setup = setup(&[&[1.0], &[1.0, 1.0]], &[(0.0, 0, &[10.0; 4])]);
    setup.forged = word
        .into_iter()
        .map(|(when, word)| Forged { at: at(when), from: peer(1), to: peer(0), word })
        .collect();
    let parties = run_checked(of(&setup, recipe("dasilva/greedy", &[])), &setup);
    assert_eq!(parties.outside().tasks_left(), 0);
    let owed = parties.scheduler(peer(0)).grid().loans().favours().owed_to(peer(1)).seconds();
    let refused = parties.outside().refused().iter().map(|refused| refused.why.to_string()).collect();
    (owed, parties.outside().outcome(), refused)
}

#[test]
fn who_lies_about_favours_gains_nothing() {
    let run = |task| RunId::new(TaskId::new(task), 1);
    let (honest, outcome, refused) = owed_after(None);
    assert_eq!((honest, outcome.remote, refused.len()), (20.0, 2, 0));
    // It says that it is done after a second: by the borrower's clock it is fast, and is owed what the same work takes at home.
    let (loan, finished) = (Loan(1), true);
    let (early, outcome, _) = owed_after(Some((1.0, Word::Ended { loan, run: run(1), finished })));
    assert_eq!(early, honest, "no more than for the work itself");
    assert_eq!(outcome.jobs, 1);
    // It says once more that it is done, or names another loan: it is paid once, and what makes no sense is shown.
    let (twice, ..) = owed_after(Some((10.5, Word::Ended { loan, run: run(1), finished })));
    assert_eq!(twice, honest);
    let stranger = Word::Ended { loan: Loan(9), run: run(1), finished };
    let (strange, _, refused) = owed_after(Some((1.0, stranger)));
    assert_eq!((strange, refused), (honest, vec!["a loan that never was".to_owned()]));
    // A lender that takes its time is paid for what the work would have taken at home.
    let taken = gleaner_sim::peers::worth(&[seconds(10.0)], &[(peer(1), seconds(1000.0))]);
    assert_eq!(taken, [(peer(1), seconds(10.0))]);
}

#[test]
fn results_that_nobody_asked_for_and_machines_that_do_not_exist_are_shown_with_their_sender() {
    let far = RunId::new(TaskId::new(4_000_000_000), 9);
    let words = [
        Word::Ended { loan: Loan(77), run: far, finished: true },
        Word::Lent { loan: Loan(5), class: MachineClassId::new(900) },
        Word::Run { loan: Loan(3), run: far },
        Word::Stop { loan: Loan(3), run: far },
    ];
    let (outcome, refused) = run(&with_liar(&words));
    assert_eq!(outcome.tasks, 8);
    for (needle, times) in [("a loan that never was", 6), ("a worker of a kind that does not exist", 2)] {
        let found: Vec<&String> = refused.iter().filter(|line| line.contains(needle)).collect();
        assert!(found.len() >= times, "{needle}: {refused:#?}");
        assert!(found.iter().any(|line| line.contains("from party 2")), "{refused:#?}");
    }
}

#[test]
fn a_flood_of_wants_and_answers_leaves_others_their_workers() {
    let class = TaskClassId::FIRST;
    let wants = (1..3_000).map(|round| {
        let seek = if round % 2 == 0 { Seek::First } else { Seek::MostPowerful };
        Word::Wants { class, workers: u32::MAX - round % 7, seek, received: 0 }
    });
    let served = (0..3_000).map(|_| Word::Served(vec![(peer(0), class, u32::MAX)]));
    let setup =
        PeersSetup { heartbeat: Some(seconds(5.0)), ..with_liar(&wants.chain(served).collect::<Vec<_>>()) };
    let (outcome, refused) = run(&setup);
    assert!(refused.len() <= REFUSED_MAX, "{}", refused.len());
    assert_eq!(outcome.jobs, 2);
}

#[test]
fn whatever_a_peer_sends_nothing_breaks() {
    for seed in 1..=300_u64 {
        let mut setup = random(seed);
        let peers = setup.peers.len();
        let choices = &mut Choices::seeded(seed ^ 0xbad);
        for _ in 0..60 {
            let mut number = |below: usize| {
                if choices.one_in(8) { u32::MAX as usize } else { choices.below(below) }
            };
            let (loan, class) = (Loan(number(12) as u64), TaskClassId::new(number(2)));
            let run = RunId::new(TaskId::new(number(20)), number(4) as u32);
            let (workers, other) = (number(9) as u32, peer(number(peers + 2)));
            let kind = MachineClassId::new(choices.below(6));
            let seek = [Seek::First, Seek::MostPowerful, Seek::Above(kind)][choices.below(3)];
            let word = match choices.below(16) {
                0 => Word::Wants { class, workers, seek, received: u64::from(workers) },
                1 => Word::Offers { best: choices.one_in(2).then_some(kind) },
                2 => Word::Served(vec![(other, class, workers), (other, class, workers)]),
                3 => Word::Here,
                4 => Word::Wanted(vec![Want { by: other, class, workers, seek }]),
                5 => Word::NothingLent { class, seek },
                6 => Word::Gone(other),
                7 => Word::Lent { loan, class: kind },
                8 => Word::Recalled(loan),
                9 => Word::GivenBack(loan),
                10 => Word::Holds(vec![(loan, vec![run, run]), (loan, Vec::new())]),
                11 | 12 => Word::Run { loan, run },
                13 => Word::Stop { loan, run },
                _ => Word::Ended { loan, run, finished: choices.one_in(2) },
            };
            let (from, to) = (peer(choices.below(peers)), peer(choices.below(peers + 3)));
            setup.forged.push(Forged { at: at(choices.below(40) as f64), from, to, word });
        }
        // Whether a peer in whose name lies were told gets its work done is not asked: only that all books stay whole.
        let preset = if seed % 2 == 0 { "dasilva/greedy" } else { "gleaner/bags" };
        let mut parties = of(&setup, recipe(preset, &[]));
        for _ in 0..2_000 {
            let goes_on = parties.step();
            parties.outside().check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            for index in 0..peers {
                let checked = parties.scheduler(peer(index)).check();
                checked.unwrap_or_else(|broken| panic!("seed {seed}, {}: {broken}", peer(index)));
            }
            if !goes_on {
                break;
            }
        }
    }
}

#[test]
fn a_silent_peer_is_forgotten_and_its_tasks_run_again() {
    let mut setup = setup(&[&[1.0], &[1.0]], &[(0.0, 0, &[40.0, 40.0])]);
    setup.heartbeat = Some(seconds(1.0));
    let (honest, _) = run(&setup);
    assert_eq!((honest.remote, honest.makespan.seconds()), (1, 40.0));
    setup.silences.push(Silence { peer: peer(1), from: at(10.0), until: at(500.0) });
    let (outcome, _) = run(&setup);
    assert_eq!((outcome.remote, outcome.makespan.seconds()), (0, 80.0), "it queued at home");
}

#[test]
fn lost_letters_leave_no_task_undone() {
    for seed in 1..=60 {
        let mut setup = random(seed);
        setup.usual = Way { delay: seconds(0.1), loss: 0.2 };
        setup.heartbeat = Some(seconds(2.0));
        let preset = if seed % 2 == 0 { "dasilva/greedy" } else { "gleaner/bags" };
        let parties = run_checked(of(&setup, recipe(preset, &[])), &setup);
        assert!(parties.mail().lost() > 0 || setup.peers.len() == 1, "seed {seed}");
        assert_eq!(parties.outside().tasks_left(), 0, "seed {seed}");
    }
}
