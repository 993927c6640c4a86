//! What this process is on its machine: which processor, how many descriptors, how much CPU it took.

use std::io;

/// Keeps this thread on one processor.
#[cfg(target_os = "linux")]
pub fn pin(cpu: usize) -> io::Result<()> {
    // SAFETY: the set is a plain bit mask that lives until the call returns; the kernel refuses what does not exist.
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

/// As many descriptors as the hard limit allows: a thousand connections do not fit the usual soft one.
pub fn raise_descriptor_limit() {
    // SAFETY: both calls only read or fill the structure passed. Where raising is refused, connecting says so.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// CPU seconds of this process so far: in its own code, and in the kernel for it.
pub fn cpu_seconds() -> (f64, f64) {
    // SAFETY: getrusage fills the structure passed and cannot fail for RUSAGE_SELF.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
