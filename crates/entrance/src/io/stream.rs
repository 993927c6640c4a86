//! A client's connection, in clear or over TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
#[cfg(target_os = "linux")]
use socket2::SockRef;
#[cfg(target_os = "linux")]
use tokio::io::Interest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

pub enum Stream {
    Plain(TcpStream),
    /// Begins with bytes that were read before it was known to be HTTP/2.
    Http2(Bytes, TcpStream),
    /// Another task has it.
    Gone,
    Secure(Box<TlsStream<TcpStream>>),
}

/// The two ends of a client's connection.
#[derive(Clone, Copy)]
pub struct Ends {
    pub remote: SocketAddr,
    pub local: SocketAddr,
}

impl Stream {
    pub fn is_secure(&self) -> bool {
        matches!(self, Self::Secure(_))
    }

    pub fn is_http2(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Gone => false,
            Self::Http2(..) => true,
            Self::Secure(tls) => tls.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }

    /// The certificate that the client has shown, in DER. The handshake has checked it.
    pub fn client_certificate(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) | Self::Http2(..) | Self::Gone => None,
            Self::Secure(tls) => Some(tls.get_ref().1.peer_certificates()?.first()?),
        }
    }

    /// Writes what the kernel takes at once. TLS may keep some of it: see [`Self::has_unsent`].
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) | Self::Http2(_, tcp) => tcp.try_write(bytes),
            Self::Gone => Err(io::ErrorKind::NotConnected.into()),
            Self::Secure(tls) => {
                // The connection's task flushes the rest, with a waker of its own.
                match Pin::new(tls).poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
                    Poll::Ready(written) => written,
                    Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
                }
            }
        }
    }

    /// As [`Self::try_write`], of bytes that the end of the stream follows. On Linux both leave in
    /// one packet: the kernel keeps what it is told has more behind it.
    pub fn try_write_last(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        if let Self::Plain(tcp) = self {
            let send = || SockRef::from(&*tcp).send_with_flags(bytes, libc::MSG_MORE | libc::MSG_NOSIGNAL);
            return tcp.try_io(Interest::WRITABLE, send);
        }
        self.try_write(bytes)
    }

    /// When it is dropped, the client sees a reset.
    pub fn reset_when_dropped(&self) {
        let tcp = match self {
            Self::Plain(tcp) | Self::Http2(_, tcp) => tcp,
            Self::Secure(tls) => tls.get_ref().0,
            Self::Gone => return,
        };
        // Of a connection that the client has reset meanwhile, it fails.
        let _ = tcp.set_zero_linger();
    }

    /// Whether records of TLS wait to be sent.
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Http2(..) | Self::Gone => false,
            Self::Secure(tls) => tls.get_ref().1.wants_write(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Http2(begin, _) if !begin.is_empty() => {
                let length = begin.len().min(buffer.remaining());
                buffer.put_slice(&begin.split_to(length));
                Poll::Ready(Ok(()))
            }
            Self::Plain(tcp) | Self::Http2(_, tcp) => Pin::new(tcp).poll_read(context, buffer),
            Self::Gone => Poll::Ready(Ok(())),
            Self::Secure(tls) => Pin::new(tls).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) | Self::Http2(_, tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::Gone => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            Self::Secure(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) | Self::Http2(_, tcp) => Pin::new(tcp).poll_flush(context),
            Self::Gone => Poll::Ready(Ok(())),
            Self::Secure(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) | Self::Http2(_, tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::Gone => Poll::Ready(Ok(())),
            Self::Secure(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
