//! Panics on demand, so that tests see what becomes of them in a process of Node. Only builds with
//! assertions have them: those that the checks make, never a package.

use std::sync::atomic::{AtomicBool, Ordering};

use napi_derive::napi;

static IN_HOOKS: AtomicBool = AtomicBool::new(false);

#[napi(catch_unwind)]
#[cfg_attr(test, allow(dead_code))]
pub fn panic_in_call() {
    panic!("injected");
}

/// In each clean-up hook that runs from now on, before it does anything.
#[napi(catch_unwind)]
#[cfg_attr(test, allow(dead_code))]
pub fn panic_in_hooks(is_wanted: bool) {
    IN_HOOKS.store(is_wanted, Ordering::Relaxed);
}

pub fn in_hook() {
    assert!(!IN_HOOKS.load(Ordering::Relaxed), "injected");
}
