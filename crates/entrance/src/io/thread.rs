//! An I/O thread: its runtime, its listeners, and the commands of other threads.

use std::rc::Rc;
use std::sync::Arc;

use tokio::task::{JoinHandle, LocalSet, spawn_local};

use super::shared::Io;
use super::{listener, timer};
use crate::direct;
use crate::entrance::{Command, Entrance};
use crate::limits::Limits;
use crate::worker::outbox;

/// Starts an entrance with its threads. Workers find it by the number.
pub fn start(limits: Limits, threads: usize) -> std::io::Result<(u32, Arc<Entrance>)> {
    let entrance = Entrance::new(limits, threads);
    for number in 0..entrance.threads.len() {
        if let Err(error) = spawn(entrance.clone(), number as u8) {
            entrance.command_all(|| Command::Close);
            return Err(error);
        }
    }
    Ok((Entrance::register(&entrance), entrance))
}

fn spawn(entrance: Arc<Entrance>, number: u8) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    std::thread::Builder::new().name(format!("busbar-io-{number}")).spawn(move || {
        LocalSet::new().block_on(&runtime, run(Io::new(entrance, number)));
    })?;
    Ok(())
}

async fn run(io: Rc<Io>) {
    spawn_local(timer::run(io.clone()));
    let waker = io.clone();
    spawn_local(async move { waker.wake_workers().await });
    let thread = &io.entrance.threads[io.number as usize];
    let mut state = State::default();
    let mut batch = Vec::new();
    while !state.is_closed {
        thread.outbox.notified().await;
        thread.outbox.take(&mut batch);
        io.guard(|| io.replies(&batch));
        outbox::empty(&mut batch);
        for command in thread.commands() {
            io.guard(|| state.obey(command, &io));
        }
    }
}

#[derive(Default)]
struct State {
    listeners: Vec<JoinHandle<()>>,
    is_closed: bool,
}

impl State {
    fn obey(&mut self, command: Command, io: &Rc<Io>) {
        match command {
            Command::Listen(listener, secure) => {
                io.stop_draining();
                self.listeners.extend(listener::start(io.clone(), listener, secure));
            }
            Command::Unlisten => self.listeners.drain(..).for_each(|task| task.abort()),
            Command::Drain(quiet) => io.drain(quiet),
            Command::Cut => io.cut(),
            Command::Close => {
                self.is_closed = true;
                io.cut();
            }
            Command::Review => io.each(|source| source.review(io)),
            Command::Dead(worker, orphans) => io.each(|source| source.worker_died(&worker, &orphans, io)),
            Command::Return(id, records) => io.with(id.slot, |source| source.move_away(id, records.clone(), io)),
            Command::Serve(target) => drop(spawn_local(direct::serve(io.clone(), target))),
            #[cfg(test)]
            Command::Run(job) => job(io),
        }
    }
}
