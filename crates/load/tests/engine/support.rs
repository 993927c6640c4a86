//! A server with known delays, and a function that runs the engine.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The server's behaviour for the n-th request, counted over all connections. It may wait first.
pub type Behaviour = dyn Fn(u64, Instant) -> Answer + Send + Sync;

pub enum Answer {
    /// Send these bytes and continue.
    Send(Vec<u8>),
    /// Send these bytes and close the connection.
    SendAndEnd(Vec<u8>),
    /// Reset the connection.
    Reset,
    /// Never answer.
    Nothing,
}

/// Listens on a free port of the loopback interface with a thread per connection, until the process
/// ends.
pub fn serve(behave: impl Fn(u64, Instant) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let behave: Arc<Behaviour> = Arc::new(behave);
    let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let began = Instant::now();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (behave, count) = (behave.clone(), count.clone());
            std::thread::spawn(move || converse(stream, &*behave, &count, began));
        }
    });
    address
}

fn converse(stream: TcpStream, behave: &Behaviour, count: &std::sync::atomic::AtomicU64, began: Instant) {
    let _ = stream.set_nodelay(true);
    let socket = stream.try_clone().unwrap();
    converse_over(stream, || reset(&socket), behave, count, began);
}

/// Serves any stream until it ends. A stream that cannot be reset is dropped instead.
pub fn converse_over(
    mut stream: impl Read + Write,
    reset: impl Fn(),
    behave: &Behaviour,
    count: &std::sync::atomic::AtomicU64,
    began: Instant,
) {
    let mut pending = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            pending.drain(..end + 4);
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match behave(number, began) {
                Answer::Send(bytes) => {
                    if stream.write_all(&bytes).is_err() {
                        return;
                    }
                }
                Answer::SendAndEnd(bytes) => {
                    let _ = stream.write_all(&bytes);
                    return;
                }
                Answer::Reset => return reset(),
                Answer::Nothing => {}
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(length) => pending.extend_from_slice(&piece[..length]),
        }
    }
}

/// Closing with a linger time of 0 sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    use std::os::fd::AsRawFd;
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the option's value is a live structure of the given size.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            std::mem::size_of_val(&linger) as u32,
        );
    }
}

pub fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Runs the engine and returns its `result` line. `job` has no target.
pub fn load(address: &str, job: &str) -> serde_json::Value {
    load_target(&serde_json::json!({ "address": address }), job)
}

pub fn load_target(target: &serde_json::Value, job: &str) -> serde_json::Value {
    let mut job: serde_json::Value = serde_json::from_str(job).unwrap();
    job["target"] = target.clone();
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_busbar-load")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(lines.lines().last().unwrap()).unwrap()
}

pub fn sleep_until(moment: Instant) {
    std::thread::sleep(moment.saturating_duration_since(Instant::now()));
}

/// The result of `work`, and the worst wake-up delay in milliseconds of sleeping threads in the
/// meantime. There are several threads, since a busy machine may favour a single one.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, f64) {
    const SLEEPERS: usize = 8;
    const NAP: Duration = Duration::from_millis(5);
    let doze = |over: mpsc::Receiver<()>| {
        let mut worst = 0.0_f64;
        loop {
            let before = Instant::now();
            if over.recv_timeout(NAP) != Err(RecvTimeoutError::Timeout) {
                return worst;
            }
            worst = worst.max((before.elapsed() - NAP).as_secs_f64() * 1000.0);
        }
    };
    std::thread::scope(|scope| {
        // Dropped after the work, also after a panic.
        let (alarms, sleepers): (Vec<_>, Vec<_>) = (0..SLEEPERS)
            .map(|_| {
                let (alarm, over) = mpsc::channel();
                (alarm, scope.spawn(move || doze(over)))
            })
            .unzip();
        let found = work();
        drop(alarms);
        (found, sleepers.into_iter().map(|sleeper| sleeper.join().unwrap()).fold(0.0, f64::max))
    })
}
