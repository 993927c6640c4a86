//! Accepts connections. Every I/O thread accepts from the same socket.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::rc::Rc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};

use super::shared::{Io, Open};
use super::stream::{Ends, Stream};
use super::{handshake, http1};
use crate::http1::refusal::{Refusal, Refused};

pub fn start(io: Rc<Io>, listener: StdListener, secure: bool) -> Option<JoinHandle<()>> {
    let listener = TcpListener::from_std(listener).ok()?;
    // At a wildcard address, each connection has to be asked for its own.
    let local = listener.local_addr().ok().filter(|address| !address.ip().is_unspecified());
    Some(spawn_local(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) if io.is_full() => refuse(&io, &stream, secure),
                Ok((stream, remote)) => {
                    io.guard(|| accept(&io, stream, remote, local, secure));
                }
                Err(error) if is_of_one_connection(&error) => {}
                // Out of descriptors or memory: wait until other connections close.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }))
}

fn accept(io: &Rc<Io>, tcp: TcpStream, remote: SocketAddr, local: Option<SocketAddr>, secure: bool) {
    let Some(local) = local.or_else(|| tcp.local_addr().ok()) else { return };
    // On Linux it has this from its listener.
    #[cfg(not(target_os = "linux"))]
    let _ = tcp.set_nodelay(true);
    let (ends, open) = (Ends { remote, local }, Open::new(io));
    if secure {
        spawn_local(handshake::run(io.clone(), tcp, ends, open));
    } else {
        http1::connection::serve(io, Stream::Plain(tcp), ends, open);
    }
}

/// Refuses at once. Waiting for the client's request would use more of what is short.
fn refuse(io: &Io, stream: &TcpStream, secure: bool) {
    io.entrance.stats.refused(Refusal::ConnectionLimit);
    if secure {
        let _ = stream.try_write(INTERNAL_ERROR);
    } else {
        let _ =
            stream.try_write(&Refusal::ConnectionLimit.answer(io.entrance.limits.problems, &[], Refused::default()));
    }
}

/// A fatal alert of TLS (RFC 8446, 6.2): nothing else is possible before a handshake.
const INTERNAL_ERROR: &[u8] = &[21, 3, 3, 0, 2, 2, 80];

fn is_of_one_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}
