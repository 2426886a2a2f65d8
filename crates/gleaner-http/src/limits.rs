//! How many requests and connections go on at a time, how large they are, and how long one waits for them. `docs/limits.md` has them
//! beside all other limits.

use gleaner_server::limits::Share;
use gleaner_wire::limits::SLOTS_MAX;
use std::time::Duration;

/// How long an agent may take to prove who it is.
// Tested by: who_does_not_say_who_it_is_in_time_is_let_go
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(10);
/// Messages that are on their way to one agent: as many as a machine may have runs, and some more.
// Tested by: an_agent_that_does_not_read_loses_its_session
pub(crate) const OUTGOING_MAX: usize = SLOTS_MAX as usize + 1_024;
/// Messages of one agent that are given to the desk together.
// Tested by: so_many_messages_are_taken_together
pub(crate) const TOGETHER_MAX: usize = 16;
/// Of what one agent says so together, how often something waits for the desk's thread. More is read when that has been taken in.
// Tested by: so_much_that_an_agent_said_waits_for_the_desk
pub(crate) const AHEAD_MAX: usize = 4;
/// How long the sending of one message may take.
// Tested by: who_does_not_read_in_time_is_let_go
pub(crate) const SENDING_MAX: Duration = Duration::from_secs(30);
/// Open connections that have shown no token yet, in all and of one address (of IPv6, of one network of 64 bits). For one more, the oldest
/// is closed.
// Tested by: so_many_strangers_of_a_network_and_of_all_have_places
pub(crate) const CONNECTIONS_OF_STRANGERS: Share = Share { all: 4_096, each: 2_048 };
/// Where few files may be open, those are no more than their number divided by this.
// Tested by: few_open_files_are_few_strangers
pub(crate) const STRANGERS_PART: usize = 4;
/// How long a connection may stay that shows no token.
// Tested by: a_stranger_has_so_much_time_to_show_a_token
pub(crate) const STRANGER_MAX: Duration = Duration::from_secs(30);
/// Open connections of users. A further one counts as a stranger's.
// Tested by: who_shows_a_token_keeps_the_connection_and_nobody_has_more_than_their_part
pub(crate) const CONNECTIONS_OF_USERS: Share = Share { all: 2_048, each: 512 };
/// Open connections of agents: of each one for its session, and others for files. A further one counts as a stranger's.
// Tested by: who_shows_a_token_keeps_the_connection_and_nobody_has_more_than_their_part
pub(crate) const CONNECTIONS_OF_AGENTS: Share = Share { all: 12_288, each: 32 };
/// Bytes that are read of a connection ahead of what is made of them.
// Tested by: of_a_long_head_little_is_read
pub(crate) const READ_AHEAD_MAX: usize = 32 << 10;
/// How long a TLS handshake, or the head of a request, may take.
// Tested by: who_does_not_shake_hands_in_time_is_let_go, who_does_not_finish_the_head_of_a_request_is_let_go
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// How long what nobody reads of a request is taken and thrown away behind its answer, so that the answer reaches who sends everything first.
// Tested by: what_nobody_reads_is_thrown_away_for_so_long_and_up_to_such_a_length
pub(crate) const REST_MAX: Duration = Duration::from_secs(5);
/// Bytes that are thrown away so.
// Tested by: what_nobody_reads_is_thrown_away_for_so_long_and_up_to_such_a_length
pub(crate) const REST_BYTES_MAX: usize = 64 << 20;
/// How long requests that are open when the coordinator stops may take to be answered.
// Tested by: who_is_being_answered_when_it_stops_has_the_answer
pub(crate) const FAREWELL_MAX: Duration = Duration::from_secs(1);
/// Bytes of a request's address and headers together.
// Tested by: headers_and_methods_have_bounds
pub(crate) const HEAD_MAX: usize = 16 << 10;
/// Steps of a task's life in one history.
// Tested by: of_a_long_life_the_latest_steps_are_told
pub(crate) const HISTORY_TOLD_MAX: usize = 10_000;
/// Machines in one answer about the last day.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const MACHINES_LISTED_MAX: usize = 1_000;
/// Runs in one answer about the last day.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const RUNS_LISTED_MAX: usize = 20_000;
/// Seconds for which a request may wait for an event.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const WAIT_MAX_S: u64 = 60;
/// Bytes of output in one answer.
// Tested by: a_long_answer_comes_in_pieces
pub(crate) const OUTPUT_PIECE_MAX: usize = 256 << 10;

/// Open requests of users. Further ones are told to try again.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const REQUESTS_OF_USERS: Share = Share { all: 512, each: 128 };
/// Open requests of agents, all of which are about files.
// Tested by: agents_have_so_many_places_each_and_together
pub(crate) const REQUESTS_OF_AGENTS: Share = Share { all: 512, each: 16 };
/// Open requests with a join token, in all and with each: one that is good, or was until a machine joined that is still let in.
// Tested by: who_joins_has_so_many_places_with_each_token_and_with_all, who_may_join_no_more_keeps_no_stranger_out
pub(crate) const REQUESTS_OF_JOINING: Share = Share { all: 64, each: 16 };
/// Open requests without a valid token. They are answered before their bodies are read.
// Tested by: strangers_have_so_many_places_together
pub(crate) const REQUESTS_OF_STRANGERS: Share = Share { all: 64, each: 64 };
/// Requests of users that wait for an event. There are fewer than requests in all, so that other requests always get
/// through.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const WAITS: Share = Share { all: 384, each: 96 };
/// Open streams of events.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const STREAMS: Share = Share { all: 256, each: 64 };
/// Files that users send or receive at a time.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const FILES_OF_USERS: Share = Share { all: 64, each: 16 };
/// Files that agents send or receive at a time.
// Tested by: agents_have_so_many_places_each_and_together
pub(crate) const FILES_OF_AGENTS: Share = Share { all: 128, each: 8 };
/// Jobs on their way that are too large to be read in one go. Each is held in memory.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const LARGE_JOBS: Share = Share { all: 4, each: 2 };
/// Of those jobs, the ones that are parsed at the same time. Each takes several times its bytes in memory.
// Tested by: what_takes_long_takes_turns
pub(crate) const LARGE_JOBS_READ_MAX: usize = 2;
/// Requests at a time that read the whole journal, or copy the ledger for a preview.
// Tested by: looks_into_the_past_take_turns
pub(crate) const STUDIES_MAX: usize = 2;
/// Requests at a time about the last day, which make the desk wait, and about why tasks wait, which copy the ledger.
// Tested by: what_takes_long_takes_turns
pub(crate) const DAYS_MAX: usize = 2;
/// Requests at a time for which the desk looks at all machines or users, at many jobs or tasks, or at the runs of a machine that has many.
// Tested by: long_looks_take_turns
pub(crate) const LONG_LOOKS_MAX: usize = 2;
/// Requests at a time that read what left memory, or what runs that are over wrote.
// Tested by: what_left_memory_is_read_by_so_many_at_a_time
pub(crate) const PAST_READS_MAX: usize = 8;

/// Bytes of what a refusal says; a longer one loses its middle.
// Tested by: a_message_is_no_longer_than_that
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// In how long the other side has to send or receive the bytes of the next two rows.
// Tested by: who_is_too_slow_is_given_up_and_who_is_not_may_take_as_long_as_it_takes
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a body within [`PATIENCE`]: 16 KiB a second. So 16 GiB may take 12 days, and a megabyte a minute. Likewise of an answer.
// Tested by: who_sends_less_than_the_limit_is_given_up, who_takes_less_than_the_limit_is_let_go
pub(crate) const BODY_BYTES_MIN: u64 = 480 << 10;
/// Bytes of a large job, which is held in memory, within [`PATIENCE`]: 256 KiB a second.
// Tested by: who_sends_less_than_the_limit_is_given_up
pub(crate) const LARGE_JOB_BYTES_MIN: u64 = 7_680 << 10;
/// Uploaded files of one user that no job names yet. Above that, the oldest has to be sent again.
// Tested by: so_many_uploads_of_a_user_are_remembered
pub(crate) const UPLOADS_OF_USER_MAX: usize = 16_384;
/// As SECURITY.md says.
const _: () = {
    let of_users = [CONNECTIONS_OF_USERS, REQUESTS_OF_USERS, WAITS, STREAMS, FILES_OF_USERS];
    let mut at = 0;
    while at < of_users.len() {
        assert!(of_users[at].each * 4 == of_users[at].all);
        at += 1;
    }
    assert!(LARGE_JOBS.each * 2 == LARGE_JOBS.all);
    assert!(REQUESTS_OF_AGENTS.each * 32 == REQUESTS_OF_AGENTS.all);
    assert!(FILES_OF_AGENTS.each * 16 == FILES_OF_AGENTS.all);
    // Each connection may have a request.
    assert!(
        CONNECTIONS_OF_AGENTS.each > REQUESTS_OF_AGENTS.each
            && CONNECTIONS_OF_USERS.each > REQUESTS_OF_USERS.each
    );
    // Who waits can still ask for something else.
    assert!(WAITS.each < REQUESTS_OF_USERS.each);
};
