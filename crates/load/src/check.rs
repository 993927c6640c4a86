//! Holds an answer against what the job expects.

use crate::answer::Answer;
use crate::job::{Expect, JsonExpect};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Why an answer does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Mismatch {
    Status,
    Length,
    Body,
    Json,
    Header,
}

/// The expectation of one request, made ready to be held against many answers.
pub struct Checker {
    status: u16,
    length: Option<usize>,
    body: Option<Vec<u8>>,
    sha256: Option<String>,
    json: Option<JsonExpect>,
    headers: Vec<(String, Option<String>)>,
}

impl Checker {
    pub fn new(expect: &Expect) -> Self {
        Checker {
            status: expect.status,
            length: expect.length,
            body: expect.body.as_ref().map(|text| text.clone().into_bytes()),
            sha256: expect.sha256.as_ref().map(|text| text.to_ascii_lowercase()),
            json: expect.json.clone(),
            headers: expect.headers.clone(),
        }
    }

    pub fn needs_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    pub fn check(&self, answer: &Answer<'_>) -> Result<(), Mismatch> {
        if answer.head.status != self.status {
            return Err(Mismatch::Status);
        }
        if self.length.is_some_and(|length| length != answer.body.len()) {
            return Err(Mismatch::Length);
        }
        if self.body.as_ref().is_some_and(|body| body != answer.body) {
            return Err(Mismatch::Body);
        }
        if self.sha256.as_ref().is_some_and(|hash| *hash != hexadecimal(&Sha256::digest(answer.body))) {
            return Err(Mismatch::Body);
        }
        if self.json.as_ref().is_some_and(|json| !json_holds(json, answer.body)) {
            return Err(Mismatch::Json);
        }
        self.check_headers(answer)
    }

    fn check_headers(&self, answer: &Answer<'_>) -> Result<(), Mismatch> {
        for (name, wanted) in &self.headers {
            let found = answer.head.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice());
            if found != wanted.as_ref().map(String::as_bytes) {
                return Err(Mismatch::Header);
            }
        }
        Ok(())
    }
}

fn json_holds(expect: &JsonExpect, body: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(body)
        .is_ok_and(|value| value.pointer(&expect.pointer) == Some(&expect.equals))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Head;

    fn check(expect: &str, status: u16, body: &str) -> Result<(), Mismatch> {
        let head = Head { status, headers: vec![("content-encoding".into(), b"gzip".to_vec())], ..Head::default() };
        Checker::new(&serde_json::from_str(expect).unwrap()).check(&Answer { head, body: body.as_bytes() })
    }

    #[test]
    fn every_kind_of_expectation_can_fail_and_hold() {
        let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let json = r#"{"json":{"pointer":"/success","equals":true}}"#;
        assert_eq!(check("{}", 200, "x"), Ok(()));
        assert_eq!(check("{}", 500, "x"), Err(Mismatch::Status));
        assert_eq!(check(r#"{"length":5}"#, 200, "hello"), Ok(()));
        assert_eq!(check(r#"{"length":5}"#, 200, "hell"), Err(Mismatch::Length));
        assert_eq!(check(r#"{"body":"hello"}"#, 200, "hello"), Ok(()));
        assert_eq!(check(r#"{"body":"hello"}"#, 200, "hellO"), Err(Mismatch::Body));
        assert_eq!(check(&format!(r#"{{"sha256":"{hash}"}}"#), 200, "hello"), Ok(()));
        assert_eq!(check(&format!(r#"{{"sha256":"{hash}"}}"#), 200, "hellO"), Err(Mismatch::Body));
        assert_eq!(check(json, 200, r#"{"success":true}"#), Ok(()));
        assert_eq!(check(json, 200, r#"{"success":false}"#), Err(Mismatch::Json));
        assert_eq!(check(json, 200, "not json"), Err(Mismatch::Json));
        assert_eq!(check(r#"{"headers":[["content-encoding","gzip"]]}"#, 200, ""), Ok(()));
        assert_eq!(check(r#"{"headers":[["content-encoding",null]]}"#, 200, ""), Err(Mismatch::Header));
    }
}
