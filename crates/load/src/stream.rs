//! Byte streams: TCP, a Unix socket, or TLS over either.

use crate::job::Target;
use crate::trust::client_config;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

/// Opens connections to the target.
pub struct Connector {
    place: Place,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

pub struct Stream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connector {
    pub fn new(target: &Target) -> Result<Connector, String> {
        let place = match (&target.address, &target.unix) {
            (Some(address), _) => Place::Tcp(resolve(address)?),
            (None, Some(path)) => Place::Unix(path.into()),
            (None, None) => return Err("the job has no target".into()),
        };
        let tls = match &target.tls {
            None => None,
            Some(tls) => {
                let name = ServerName::try_from(tls.server_name.clone())
                    .map_err(|_| format!("`{}` is not a name that a certificate can have", tls.server_name))?;
                Some((Arc::new(client_config(&tls.certificate, tls.resume, target.protocol)?), name))
            }
        };
        Ok(Connector { place, tls })
    }

    /// Starts to connect. The stream becomes writable when it is connected.
    pub fn connect(&self, registry: &Registry, token: Token) -> io::Result<Stream> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        let socket = match &self.place {
            Place::Tcp(address) => {
                let mut socket = TcpStream::connect(*address)?;
                // With Nagle's algorithm, requests would wait for acknowledgements.
                let _ = socket.set_nodelay(true);
                registry.register(&mut socket, token, interest)?;
                Socket::Tcp(socket)
            }
            Place::Unix(path) => {
                let mut socket = UnixStream::connect(path)?;
                registry.register(&mut socket, token, interest)?;
                Socket::Unix(socket)
            }
        };
        let tls = match &self.tls {
            None => None,
            Some((config, name)) => {
                Some(Box::new(ClientConnection::new(config.clone(), name.clone()).map_err(io::Error::other)?))
            }
        };
        Ok(Stream { socket, tls })
    }
}

impl Stream {
    /// Reads available bytes into `buffer`. 0: end of the stream.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(io::Error::other)?;
            // The handshake may continue with the bytes just read.
            flush_tls(tls, &mut self.socket)?;
        }
    }

    /// Writes without blocking. Returns the number of accepted bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.write(bytes) };
        let taken = if bytes.is_empty() { 0 } else { tls.writer().write(bytes)? };
        flush_tls(tls, &mut self.socket)?;
        // Its buffer is full until the socket accepts more, or until the end of the handshake.
        if taken == 0 && !bytes.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(taken) }
    }

    /// Accepted bytes that are still buffered. Only TLS has any.
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// False if TLS is used, and the server did not choose HTTP/2 in the handshake (ALPN).
    pub fn agreed_on_http2(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.alpn_protocol() == Some(b"h2"))
    }

    /// The error of a failed connect, after the stream became writable.
    pub fn take_error(&self) -> io::Result<()> {
        let error = match &self.socket {
            Socket::Tcp(socket) => socket.take_error()?,
            Socket::Unix(socket) => socket.take_error()?,
        };
        error.map_or(Ok(()), Err)
    }

    /// False during the TCP handshake.
    pub fn is_connected(&self) -> bool {
        match &self.socket {
            Socket::Tcp(socket) => socket.peer_addr().is_ok(),
            Socket::Unix(socket) => socket.peer_addr().is_ok(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.read(buffer),
            Socket::Unix(socket) => socket.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.write(bytes),
            Socket::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn flush_tls(tls: &mut ClientConnection, socket: &mut Socket) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn resolve(address: &str) -> Result<SocketAddr, String> {
    let mut found = address.to_socket_addrs().map_err(|error| format!("`{address}` is not an address: {error}"))?;
    found.next().ok_or_else(|| format!("`{address}` has no address"))
}
