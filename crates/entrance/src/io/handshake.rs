//! The handshake of TLS, and the choice of the protocol by its ALPN.

use std::rc::Rc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::shared::{Io, Open};
use super::stream::{Ends, Stream};
use super::{http1, http2};
use crate::stats::add;

const PERIOD: Duration = Duration::from_millis(250);

pub async fn run(io: Rc<Io>, tcp: TcpStream, ends: Ends, open: Open) {
    let stats = &io.entrance.stats;
    let Some(config) = io.entrance.tls.config() else { return };
    let handshake = tokio::time::timeout(io.entrance.limits.head_timeout, TlsAcceptor::from(config).accept(tcp));
    let outcome = tokio::select! {
        outcome = handshake => outcome,
        () = drained(&io) => return,
    };
    match outcome {
        Ok(Ok(tls)) => {
            add(&stats.handshakes, 1);
            let stream = Stream::Secure(Box::new(tls));
            if stream.is_http2() {
                http2::connection::serve(io, stream, ends, open).await;
            } else {
                http1::connection::serve(&io, stream, ends, open);
            }
        }
        Ok(Err(_)) | Err(_) => add(&stats.failed_handshakes, 1),
    }
}

/// Resolves when connections without a request close because the entrance drains.
async fn drained(io: &Io) {
    let since = io.entrance.now();
    loop {
        tokio::time::sleep(PERIOD).await;
        if io.drains(since, io.entrance.now()) {
            return;
        }
    }
}
