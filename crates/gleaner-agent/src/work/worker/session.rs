//! What is heard from the coordinator and sent to it, from dialling on.

use super::Worker;
use crate::clock::now;
use crate::duties::{Event, Piece};
use crate::home::Identity;
use crate::work::dialler::{Dialler, News};
use crate::work::spool;
use gleaner_net::{Address, Challenge, Client, SessionNonce, Token};
use gleaner_wire::session::{FromAgent, Stream};
use std::io;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

impl Worker {
    /// Dials until that is aborted, the address that was given before the one where the coordinator was met last.
    pub(super) fn dial(&mut self, news: mpsc::Sender<News>, written: Arc<Notify>) -> JoinHandle<()> {
        let Identity { address, authority, .. } = self.identity.clone();
        let mut addresses: Vec<Address> = self.given.take().into_iter().chain([address]).collect();
        addresses.dedup();
        tokio::spawn(Dialler { addresses, authority, news, written }.dial())
    }

    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Open(outgoing, address) => {
                tracing::info!(coordinator = %address, name = self.identity.name, "connected");
                self.outgoing = Some(outgoing);
                (self.apart, self.is_given_up) = (None, false);
                self.dialled = address;
                self.take(Event::Connected);
            }
            News::Event(event) => {
                // What was under way when the connection was given up is of no use.
                if self.outgoing.is_some() {
                    self.take(event);
                }
            }
            News::Closed(why) => {
                // Who gave it up has said why.
                if !std::mem::take(&mut self.is_given_up) {
                    tracing::info!(why, "no connection to the coordinator");
                    self.apart = Some(why);
                }
                self.outgoing = None;
                self.take(Event::Disconnected);
            }
        }
    }

    pub(super) fn send(&mut self, message: FromAgent) {
        if let FromAgent::Ended { run, end } = &message {
            tracing::info!(task = self.duties.task_name(*run), run = run.number, "ended: {}", end.outcome);
        }
        let sent = self.outgoing.as_ref().map(|outgoing| outgoing.send(message));
        if sent == Some(Err(())) {
            self.close("what is sent to the coordinator is not taken");
            self.results.push_back(Event::Disconnected);
        }
    }

    pub(super) fn close(&mut self, why: &str) {
        tracing::warn!(why, "the connection to the coordinator is given up");
        (self.apart, self.is_given_up) = (Some(why.to_owned()), true);
        self.outgoing = None;
    }

    pub(super) fn prove(&mut self, nonce: &[u8]) {
        let Ok(nonce) = <[u8; 32]>::try_from(nonce) else {
            self.close("its challenge is not 32 bytes");
            self.results.push_back(Event::Disconnected);
            return;
        };
        let nonce = SessionNonce::from_bytes(nonce);
        let challenge = Challenge { authority: self.identity.authority, agent: self.identity.agent, nonce };
        let signature = self.key.sign_session(&challenge).as_bytes().to_vec();
        self.send(FromAgent::Proof { signature });
    }

    /// Called when the coordinator has welcomed this agent, which proves that it is at the address that was dialled.
    pub(super) fn use_token(&mut self, token: &str) {
        if self.dialled != self.identity.address {
            self.identity.address = self.dialled.clone();
            self.threads.remember_address(self.identity.clone());
        }
        let Identity { address, authority, .. } = self.identity.clone();
        match token.parse::<Token>() {
            Ok(token) => {
                self.threads.use_client(Client::new(address, authority, &token), &self.found);
            }
            Err(why) => tracing::warn!(%why, "the coordinator's token for files is of no use"),
        }
    }

    /// Sends output as far as what was sent before has left; false if some of it is lost, about which something is to be
    /// done.
    pub(super) fn send_pieces(&mut self) -> bool {
        while let Some(outgoing) = &self.outgoing
            && outgoing.has_room()
            && let Some(piece) = self.duties.next_piece(now())
        {
            let (Piece::Output(run, ..) | Piece::End(run, ..)) = piece;
            match self.message_of(piece) {
                Ok(message) => self.send(message),
                Err(why) => {
                    self.take(Event::OutputLost(run, why.to_string()));
                    return false;
                }
            }
        }
        true
    }

    fn message_of(&self, piece: Piece) -> io::Result<FromAgent> {
        let read = |run, stream, range| spool::read_range(&self.home.spool(run, stream), range);
        Ok(match piece {
            Piece::Output(run, stream, range) => {
                let bytes = read(run, stream, range)?;
                FromAgent::Output { run, stream, offset: range.offset, bytes }
            }
            Piece::End(run, mut end, [stdout, stderr]) => {
                end.stdout.bytes = read(run, Stream::Stdout, stdout)?;
                end.stderr.bytes = read(run, Stream::Stderr, stderr)?;
                FromAgent::Ended { run, end: *end }
            }
        })
    }
}
