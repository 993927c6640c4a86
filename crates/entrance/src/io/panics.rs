//! Panics in what an I/O thread does end neither the thread nor one of its tasks.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use super::shared::{Io, RequestSource};
use super::thread::start;
use crate::entrance::{Command, Entrance, Job};
use crate::limits::Limits;
use crate::worker::orphans::Orphans;
use crate::worker::record::ExchangeId;
use crate::worker::{Form, Worker};

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Poll,
    Clock,
    Review,
    Death,
    Cut,
    End,
}

struct Faulty(Fault);

impl Faulty {
    fn panics_in(&self, fault: Fault) {
        assert!(self.0 != fault, "injected");
    }
}

impl RequestSource for Faulty {
    fn poll(&mut self, _: &mut Context<'_>, _: &Io) -> Poll<()> {
        self.panics_in(Fault::Poll);
        if self.0 == Fault::End { Poll::Ready(()) } else { Poll::Pending }
    }

    fn reply(&mut self, _: &[u8], _: &Io) {}

    fn worker_died(&mut self, _: &Arc<Worker>, _: &Orphans, _: &Io) {
        self.panics_in(Fault::Death);
    }

    fn move_away(&mut self, _: ExchangeId, _: Vec<u8>, _: &Io) {}

    fn review(&mut self, _: &Io) {
        self.panics_in(Fault::Review);
    }

    fn look_at_clock(&mut self, _: u64, _: &Io) {
        self.panics_in(Fault::Clock);
    }

    /// Called after each of the others.
    fn cut(&mut self) {
        self.panics_in(Fault::Cut);
    }

    fn closed(&mut self, _: &Io) {
        self.panics_in(Fault::End);
    }
}

fn run(entrance: &Entrance, job: Job) {
    entrance.threads[0].command(Command::Run(job));
}

fn answer_to(port: u16, request: &[u8]) -> String {
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.write_all(request).unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_thread_survives_them() {
    let limits = Limits { worker_timeout: Duration::from_millis(10), ..Limits::default() };
    let (id, entrance) = start(limits, 1).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    entrance.listen(&listener, false).unwrap();
    for fault in [Fault::Poll, Fault::Clock, Fault::Review, Fault::Death, Fault::End] {
        run(&entrance, Box::new(move |io| io.add(|_, _| Faulty(fault), ())));
    }
    run(&entrance, Box::new(|_| panic!("injected")));
    // The worker's review and its death, and the wake-up for a request.
    let worker = entrance.add_worker(Form::Text, Box::new(|| panic!("injected")));
    let mut waiting = TcpStream::connect(("127.0.0.1", port)).unwrap();
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    while worker.in_flight.load(Ordering::Relaxed) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(50));
    entrance.expect_worker(false);
    entrance.remove_worker(&worker);
    let mut text = String::new();
    waiting.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    // The clock is looked at, and connections are accepted.
    for _ in 0..2_000 {
        if entrance.stats.panics.load(Ordering::Relaxed) >= 7 {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(entrance.stats.panics.load(Ordering::Relaxed) >= 7);
    assert!(answer_to(port, b"nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    entrance.close(id);
}

#[test]
fn a_panic_while_one_is_cut_leaves_the_others() {
    let (id, entrance) = start(Limits::default(), 1).unwrap();
    for _ in 0..3 {
        run(&entrance, Box::new(|io| io.add(|_, _| Faulty(Fault::Cut), ())));
    }
    entrance.command_all(|| Command::Cut);
    while entrance.stats.panics.load(Ordering::Relaxed) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    entrance.close(id);
}
