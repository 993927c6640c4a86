//! Runs a target in an I/O thread: takes its inbox, as a worker does.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, spawn_local};

use super::call::{self, Call, Served, Window};
use super::target::Target;
use super::upstream::Pool;
use crate::io::shared::Io;
use crate::limits::REQUEST_WINDOW;
use crate::worker::record::{
    ExchangeId, Header, Records, WORDS, flag, id_of, kind, kind_of, reply, reply_record, word,
};

const CLEAN: Duration = Duration::from_secs(2);

/// A target, and its calls by the connections that they came from.
struct Server {
    served: Rc<Served>,
    calls: RefCell<HashMap<u32, Running>>,
}

/// The call of a client's connection. It has one at a time.
struct Running {
    epoch: u32,
    /// `None` once the client has ended.
    body: Option<UnboundedSender<Vec<u8>>>,
    window: Rc<Window>,
    task: AbortHandle,
}

/// Ends with its thread.
pub async fn serve(io: Rc<Io>, target: Arc<Target>) {
    let served = Rc::new(Served { io, target, pool: Pool::default() });
    spawn_local(clean(served.clone()));
    let server = Rc::new(Server { served: served.clone(), calls: RefCell::default() });
    let mut area = 0;
    loop {
        served.target.notify.notified().await;
        let worker = &served.target.worker;
        worker.came();
        loop {
            let (length, more) = worker.inbox.take();
            // SAFETY: this task is the worker: nobody else takes, and nobody writes what was taken.
            let batch = unsafe { std::slice::from_raw_parts(worker.inbox.areas[area].pointer(), length) };
            area = 1 - area;
            served.io.guard(|| Records(batch).for_each(|record| server.dispatch(record)));
            if !more {
                break;
            }
        }
    }
}

async fn clean(served: Rc<Served>) {
    loop {
        tokio::time::sleep(CLEAN).await;
        served.pool.clean(|address| served.target.has(address));
    }
}

impl Server {
    fn dispatch(self: &Rc<Self>, record: &[u8]) {
        let connection = word(record, 5);
        if kind_of(record) == kind::REQUEST {
            return self.begin(connection, record);
        }
        let mut calls = self.calls.borrow_mut();
        let Some(running) = calls.get_mut(&connection) else {
            if kind_of(record) == kind::BODY {
                self.skip(record);
            }
            return;
        };
        match kind_of(record) {
            kind::CLOSED => {
                running.task.abort();
                calls.remove(&connection);
            }
            _ if running.epoch != word(record, 4) => {}
            kind::CLIENT_ENDED => running.body = None,
            kind::CREDIT => {
                let ahead = running.window.ahead.get().saturating_sub(word(record, 6) as usize);
                running.window.ahead.set(ahead);
                running.window.opened.notify_one();
            }
            kind::BODY => {
                let bytes = record.get(WORDS * 4..).and_then(|bytes| bytes.get(..word(record, 7) as usize));
                if let (Some(body), Some(bytes)) = (&running.body, bytes)
                    && body.send(bytes.to_vec()).is_err()
                {
                    self.skip(record);
                }
            }
            _ => {}
        }
    }

    fn begin(self: &Rc<Self>, connection: u32, record: &[u8]) {
        let (body, pieces) = unbounded_channel();
        let window = Rc::new(Window::default());
        let id = id_of(record);
        let call = Call { served: self.served.clone(), id, record: record.to_vec(), window: window.clone() };
        let server = self.clone();
        let has_more = Header::of(record).flags & flag::MORE != 0;
        let task = spawn_local(async move {
            call::run(call, pieces).await;
            server.ended(connection, id.epoch);
            if has_more {
                // For the bytes that the call has received and not read.
                server.credit(id, REQUEST_WINDOW);
            }
        });
        let running = Running { epoch: id.epoch, body: Some(body), window, task: task.abort_handle() };
        if let Some(before) = self.calls.borrow_mut().insert(connection, running) {
            before.task.abort();
        }
    }

    /// The response came before the end of the request's body. The rest is read and dropped, as by
    /// Node's server: the client's next request follows it.
    fn skip(&self, record: &[u8]) {
        self.credit(id_of(record), word(record, 6) as usize);
    }

    /// The entrance does not let it exceed the window.
    fn credit(&self, id: ExchangeId, length: usize) {
        let outbox = &self.served.io.entrance.threads[id.thread as usize].outbox;
        outbox.push(&reply_record(reply::CREDIT, flag::TEXT, id, length as u32, &[]));
    }

    fn ended(&self, connection: u32, epoch: u32) {
        let mut calls = self.calls.borrow_mut();
        if calls.get(&connection).is_some_and(|running| running.epoch == epoch) {
            calls.remove(&connection);
        }
    }
}
