//! Wakes the loop at a point in time more exactly than `epoll_wait`, whose time-out is in whole milliseconds: an open
//! loop at 20,000 a second has a request due every 50 µs.

use std::io;
use std::time::Duration;

#[cfg(target_os = "linux")]
pub struct Alarm {
    descriptor: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Alarm {
    pub fn new(registry: &mio::Registry, token: mio::Token) -> io::Result<Alarm> {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        // SAFETY: a new descriptor or -1; ownership is taken at once.
        let descriptor = unsafe {
            let raw = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if raw < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(raw)
        };
        registry.register(&mut mio::unix::SourceFd(&descriptor.as_raw_fd()), token, mio::Interest::READABLE)?;
        Ok(Alarm { descriptor })
    }

    /// Rings once, after `delay`; replaces what was set. A new setting also clears an alarm that rang unheard.
    pub fn set(&self, delay: Duration) {
        use std::os::fd::AsRawFd;
        // Zero would disarm the timer instead of ringing at once.
        let delay = delay.max(Duration::from_nanos(1));
        let spec = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec { tv_sec: delay.as_secs() as _, tv_nsec: delay.subsec_nanos() as _ },
        };
        // SAFETY: the descriptor is a timer and the structure lives through the call.
        unsafe { libc::timerfd_settime(self.descriptor.as_raw_fd(), 0, &spec, std::ptr::null_mut()) };
    }

    /// How long to wait at most beside the alarm.
    pub fn patience(&self, _delay: Duration) -> Option<Duration> {
        None
    }
}

/// Elsewhere the loop's own time-out must do; the pacing error that it costs is recorded and reported.
#[cfg(not(target_os = "linux"))]
pub struct Alarm;

#[cfg(not(target_os = "linux"))]
impl Alarm {
    pub fn new(_registry: &mio::Registry, _token: mio::Token) -> io::Result<Alarm> {
        Ok(Alarm)
    }

    pub fn set(&self, _delay: Duration) {}

    pub fn patience(&self, delay: Duration) -> Option<Duration> {
        Some(delay)
    }
}
