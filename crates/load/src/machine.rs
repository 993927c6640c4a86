//! The process on its machine: pinning, descriptors, CPU time.

use std::io;

/// Pins this thread to a processor.
#[cfg(target_os = "linux")]
pub fn pin(cpu: usize) -> io::Result<()> {
    // SAFETY: the set is a plain bit mask that outlives the call. The kernel refuses unknown
    // processors.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if cpu >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no processor {cpu}")));
        }
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
pub fn pin(_cpu: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "pinning to a processor (`cpu`) works on Linux only"))
}

/// Raises the descriptor limit to the hard limit. The usual soft limit is too low for a thousand
/// connections.
pub fn raise_descriptor_limit() {
    // SAFETY: both calls only read or fill the structure. If raising fails, connecting reports it.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// CPU seconds of this process: user and system.
pub fn cpu_seconds() -> (f64, f64) {
    // SAFETY: getrusage fills the structure, and cannot fail for RUSAGE_SELF.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
