//! Tells streams when h2 has written what they gave it: a reset drops what h2 still has of its
//! stream.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

#[derive(Default)]
pub struct Flushes {
    count: Cell<u64>,
    /// The connection takes no more bytes at the moment.
    is_blocked: Cell<bool>,
    /// Of the connection's task.
    connection: RefCell<Option<Waker>>,
    waiting: RefCell<Vec<Waker>>,
}

/// Of the next flush.
#[derive(Clone, Copy)]
pub struct Ticket(u64);

impl Flushes {
    /// Wakes the stream after the next flush. h2 writes nothing by itself if it has nothing to
    /// write, so its task is woken for that.
    pub fn ask(&self, context: &Context<'_>) -> Ticket {
        self.waiting.borrow_mut().push(context.waker().clone());
        if let Some(connection) = &*self.connection.borrow() {
            connection.wake_by_ref();
        }
        Ticket(self.count.get())
    }

    pub fn is_over(&self, Ticket(before): Ticket) -> bool {
        self.count.get() > before
    }

    /// A write or a flush of the connection was tried.
    pub fn tried(&self, is_pending: bool) {
        self.is_blocked.set(is_pending);
    }

    /// h2 has written what it had, if the connection takes it.
    pub fn has_run(&self, context: &Context<'_>) {
        let mut connection = self.connection.borrow_mut();
        if !connection.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *connection = Some(context.waker().clone());
        }
        if self.is_blocked.get() {
            return;
        }
        self.count.set(self.count.get() + 1);
        self.waiting.borrow_mut().drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_counts_only_when_the_connection_takes_what_is_written() {
        let (flushes, context) = (Flushes::default(), Context::from_waker(Waker::noop()));
        flushes.has_run(&context);
        let ticket = flushes.ask(&context);
        assert!(!flushes.is_over(ticket));
        flushes.tried(true);
        flushes.has_run(&context);
        assert!(!flushes.is_over(ticket));
        flushes.tried(false);
        flushes.has_run(&context);
        assert!(flushes.is_over(ticket));
        assert!(flushes.waiting.borrow().is_empty());
    }
}
