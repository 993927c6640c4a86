//! Services in processes and commands that the entrance reaches itself, without a worker between.
//!
//! A target is a service. To the rest of the entrance it looks like a worker: requests go to its
//! inbox, and replies come from it. `serve` runs it in an I/O thread.
//!
//! - `directory`: the targets, and the routes to them; `target`: one, with its instances
//! - `routes`: which requests a target gets. The gateway in a worker gets all others, so what is
//!   unusual is judged in one place only
//! - `templates`: by which requests are counted
//! - `head`: what the gateway changes in heads, on both ways
//! - `upstream`: connections to instances, and those that are kept
//! - `counts`: what the requests were, for metrics
//! - `serve`: runs a target; `call`: one request; `attempt`: one try of it; `forwarding`: its
//!   response; `refusals`: the entrance's own
//! - `request`: a request, as its record has it

mod attempt;
mod call;
pub mod counts;
pub mod directory;
mod forwarding;
mod head;
mod refusals;
mod request;
pub mod routes;
mod serve;
pub mod settings;
pub mod target;
pub mod templates;
mod upstream;

pub use serve::serve;
