//! A load that standard input turns on and off, so that the server can be frozen in between.
//!
//! The job is the first line. Each further line is `ready`, `on` or `off`. After `off` no request
//! is sent, and when all are answered the engine writes a `pulse`: what was done since `on`. At
//! `ready` the server runs again, and connections that were idle for long are replaced. The end of
//! the input ends the job.

use mio::{Registry, Token, Waker};
use std::io::{self, BufRead};
use std::sync::mpsc::{Receiver, channel};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    Ready,
    On,
    Off,
    End,
}

/// Reads the first line, which has a job in pulses, or else all of the input.
pub fn read_job(input: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    input.read_line(&mut text)?;
    if !is_in_pulses(&text) {
        input.read_to_string(&mut text)?;
    }
    Ok(text)
}

fn is_in_pulses(line: &str) -> bool {
    let job: Result<serde_json::Value, _> = serde_json::from_str(line);
    job.is_ok_and(|job| job.pointer("/load/loop").is_some_and(|name| name == "pulses"))
}

/// The lines of standard input, which wake the event loop.
pub struct Switches {
    lines: Receiver<Switch>,
}

impl Switches {
    pub fn new(registry: &Registry, token: Token) -> io::Result<Switches> {
        let waker = Waker::new(registry, token)?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in io::stdin().lines() {
                let switch = match line.as_deref() {
                    Ok("ready") => Switch::Ready,
                    Ok("on") => Switch::On,
                    Ok("off") => Switch::Off,
                    _ => break,
                };
                if sender.send(switch).is_err() || waker.wake().is_err() {
                    return;
                }
            }
            // An engine that does not receive it has ended.
            if sender.send(Switch::End).is_ok() {
                let _ = waker.wake();
            }
        });
        Ok(Switches { lines })
    }

    pub fn next(&self) -> Option<Switch> {
        // After the end no more lines are sent.
        self.lines.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_in_pulses_is_the_first_line_and_any_other_job_all_of_the_input() {
        let pulses = "{\"load\":{\"loop\":\"pulses\"}}\n";
        assert_eq!(read_job(&mut format!("{pulses}on\noff\n").as_bytes()).unwrap(), pulses);
        let other = "{\"load\":\n{\"loop\":\"closed\"}}\n";
        assert_eq!(read_job(&mut other.as_bytes()).unwrap(), other);
    }
}
