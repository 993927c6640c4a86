//! A server of HTTP/2 whose answers are known.

use bytes::Bytes;
use h2::server::{self, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub type Fields = &'static [(&'static str, &'static str)];

pub enum Reply {
    Send {
        status: u16,
        headers: Fields,
        body: Vec<u8>,
        trailers: Option<Fields>,
    },
    Late(Duration, Box<Reply>),
    /// Reset the stream, before an answer or amid it.
    Reset {
        is_midway: bool,
    },
    /// GOAWAY after this request, which is answered.
    Leave,
    /// GOAWAY at once.
    Abort,
    Nothing,
}

/// What arrived: its number, counted over all connections, its head and its body.
pub struct Arrived {
    pub number: u64,
    pub head: Request<()>,
    pub body: Vec<u8>,
}

type Behaviour = dyn Fn(&Arrived) -> Reply + Send + Sync;

pub struct Server {
    pub address: String,
    /// Most streams at a time, of all connections.
    pub most: Arc<AtomicUsize>,
}

#[derive(Default)]
pub struct Options {
    pub max_streams: Option<u32>,
    pub tls: Option<Arc<rustls::ServerConfig>>,
}

pub fn ok(body: &str) -> Reply {
    Reply::Send { status: 200, headers: &[], body: body.into(), trailers: None }
}

/// Serves on a free port of the loopback interface, in a thread, until the process ends.
pub fn serve(options: Options, behave: impl Fn(&Arrived) -> Reply + Send + Sync + 'static) -> Server {
    let (told, address) = std::sync::mpsc::channel();
    let most = Arc::new(AtomicUsize::new(0));
    let shared = Arc::new(Shared {
        behave: Box::new(behave),
        count: AtomicU64::new(0),
        now: AtomicUsize::new(0),
        most: most.clone(),
    });
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap().to_string()).unwrap();
            let acceptor = options.tls.map(TlsAcceptor::from);
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let _ = stream.set_nodelay(true);
                let (shared, acceptor) = (shared.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => converse(stream, options.max_streams, shared).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                converse(stream, options.max_streams, shared).await;
                            }
                        }
                    }
                });
            }
        });
    });
    Server { address: address.recv().unwrap(), most }
}

struct Shared {
    behave: Box<Behaviour>,
    count: AtomicU64,
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(stream: S, max_streams: Option<u32>, shared: Arc<Shared>) {
    let mut builder = server::Builder::new();
    if let Some(max) = max_streams {
        builder.max_concurrent_streams(max);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    let (leave, mut left) = tokio::sync::mpsc::unbounded_channel();
    loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(Ok((request, respond))) = accepted else { return };
                tokio::spawn(answer(request, respond, shared.clone(), leave.clone()));
            }
            Some(is_abrupt) = left.recv() => {
                if is_abrupt {
                    connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                } else {
                    connection.graceful_shutdown();
                }
            }
        }
    }
}

type Leave = tokio::sync::mpsc::UnboundedSender<bool>;

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, shared: Arc<Shared>, leave: Leave) {
    let now = shared.now.fetch_add(1, Ordering::SeqCst) + 1;
    shared.most.fetch_max(now, Ordering::SeqCst);
    let (parts, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(piece)) = incoming.data().await {
        let _ = incoming.flow_control().release_capacity(piece.len());
        body.extend_from_slice(&piece);
    }
    let number = shared.count.fetch_add(1, Ordering::SeqCst);
    let arrived = Arrived { number, head: Request::from_parts(parts, ()), body };
    let mut reply = (shared.behave)(&arrived);
    while let Reply::Late(delay, then) = reply {
        tokio::time::sleep(delay).await;
        reply = *then;
    }
    shared.now.fetch_sub(1, Ordering::SeqCst);
    match reply {
        Reply::Send { status, headers, body, trailers } => send(&mut respond, status, headers, body, trailers),
        Reply::Reset { is_midway: true } => {
            let head = Response::builder().status(200).body(()).unwrap();
            if let Ok(mut stream) = respond.send_response(head, false) {
                let _ = stream.send_data(Bytes::from_static(b"hel"), false);
                tokio::time::sleep(Duration::from_millis(10)).await;
                stream.send_reset(Reason::INTERNAL_ERROR);
            }
        }
        Reply::Reset { is_midway: false } => respond.send_reset(Reason::REFUSED_STREAM),
        Reply::Leave => {
            send(&mut respond, 200, &[], b"hello".to_vec(), None);
            let _ = leave.send(false);
        }
        Reply::Abort => {
            let _ = leave.send(true);
            std::future::pending::<()>().await;
        }
        Reply::Nothing => std::future::pending::<()>().await,
        Reply::Late(..) => unreachable!(),
    }
}

fn send(respond: &mut SendResponse<Bytes>, status: u16, headers: Fields, body: Vec<u8>, trailers: Option<Fields>) {
    let mut head = Response::builder().status(status);
    for (name, value) in headers {
        head = head.header(*name, *value);
    }
    let is_whole = body.is_empty() && trailers.is_none();
    let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), is_whole) else { return };
    if !body.is_empty() {
        let _ = stream.send_data(body.into(), trailers.is_none());
    }
    if let Some(trailers) = trailers {
        let fields: HeaderMap =
            trailers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let _ = stream.send_trailers(fields);
    }
}
