//! A minimal server: one thread, canned answers, and no parsing except for the blank line that ends
//! a request. With it the load generator is the limit, which
//! `packages/lab/test/proofs/load-generators.ts` needs to compare generators. Listens on `PORT` of
//! the loopback interface.

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Result, Write};

const LISTENER: Token = Token(0);
const END: &[u8] = b"\r\n\r\n";
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"hello\":\"world\"}";

fn main() -> Result<()> {
    let port = std::env::var("PORT").unwrap_or_default();
    let mut listener = TcpListener::bind(format!("127.0.0.1:{port}").parse().expect("PORT is a number"))?;
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut connections: HashMap<Token, Connection> = HashMap::new();
    let mut next = LISTENER.0 + 1;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    loop {
        match poll.poll(&mut events, None) {
            // The process was stopped and continued.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        }
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    // It may have ended already. Its first read reports that.
                    let _ = stream.set_nodelay(true);
                    poll.registry().register(&mut stream, Token(next), Interest::READABLE)?;
                    connections.insert(Token(next), Connection { stream, unfinished: Vec::new() });
                    next += 1;
                }
            } else if let Some(connection) = connections.get_mut(&event.token())
                && connection.answer().is_err()
            {
                connections.remove(&event.token());
            }
        }
    }
}

struct Connection {
    stream: TcpStream,
    unfinished: Vec<u8>,
}

impl Connection {
    /// An error if it has ended, or does not read its answers.
    fn answer(&mut self) -> Result<()> {
        let mut piece = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.unfinished.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            while let Some(at) = self.unfinished.windows(END.len()).position(|window| window == END) {
                self.unfinished.drain(..at + END.len());
                self.stream.write_all(ANSWER)?;
            }
        }
    }
}
