//! What the entrance answers itself in place of an instance.

use super::call::Call;
use super::request::Request;
use crate::http1::cors;
use crate::http1::refusal::{Refusal, problem};

impl Call {
    pub(super) fn refuse_unserved(&self, request: &Request) {
        if request.left == 0 {
            return self.give_back();
        }
        self.refuse(request, Refusal::NotServing, "is not serving");
    }

    pub(super) fn refuse_hung_up(&self, request: &Request) {
        if self.served.io.is_draining() {
            return self.refuse(request, Refusal::NotServing, "has stopped before it had answered");
        }
        self.refuse(request, Refusal::HungUp, "ended before it had answered");
    }

    pub(super) fn refuse(&self, request: &Request, refusal: Refusal, what: &str) {
        let service = &self.served.target.service;
        self.send_problem(
            request,
            refusal,
            &format!("Service '{service}' {what}"),
            &format!(r#","service":"{service}""#),
        );
    }

    /// The detail is the text of Node's parser.
    pub(super) fn refuse_cut(&self, request: &Request) {
        self.send_problem(request, Refusal::Malformed, "The request cannot be served: Invalid EOF state", "");
    }

    fn send_problem(&self, request: &Request, refusal: Refusal, detail: &str, more: &str) {
        let entrance = &self.served.io.entrance;
        entrance.stats.refused(refusal);
        let (status, title, code, _) = refusal.details();
        let more = format!(r#""instance":"{}","code":"{code}"{more}"#, request.path());
        let fields = cors::fields(&entrance.origins(), cors::origin_of(&request.text));
        self.send(&problem(status, title, detail, &more, &fields, request.is_head()));
    }
}
