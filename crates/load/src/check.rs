//! Compares an answer with what the job expects.

use crate::answer::Answer;
use crate::grpc;
use crate::job::{JsonExpect, Request};
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

/// How an answer differs from the expectation. `detail` is the header, or the server's reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: Mismatch,
    pub detail: Option<String>,
}

impl From<Mismatch> for Difference {
    fn from(kind: Mismatch) -> Self {
        Difference { kind, detail: None }
    }
}

impl Difference {
    /// Adds the server's own words.
    pub fn because(self, reason: Option<String>) -> Self {
        Difference { detail: self.detail.or(reason), ..self }
    }
}

/// The prepared expectation of one request.
pub struct Checker {
    status: u16,
    length: Option<usize>,
    body: Option<Vec<u8>>,
    sha256: Option<String>,
    json: Option<JsonExpect>,
    /// Values as bytes. None for a header that must be absent.
    headers: Vec<(String, Option<Vec<u8>>)>,
    /// If set, the only other headers that an answer may have.
    other_headers: Option<Vec<String>>,
}

impl Checker {
    pub fn new(request: &Request) -> Result<Self, String> {
        let expect = &request.expect;
        let body = match &expect.message {
            Some(message) => Some(grpc::decode(message)?),
            None => expect.body.as_ref().map(|text| text.clone().into_bytes()),
        };
        Ok(Checker {
            status: expect.status.unwrap_or(if request.message.is_some() { 0 } else { 200 }),
            length: expect.length,
            body,
            sha256: expect.sha256.as_ref().map(|text| text.to_ascii_lowercase()),
            json: expect.json.clone(),
            headers: expect
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.as_deref().map(field_bytes)))
                .collect(),
            other_headers: expect.other_headers.clone(),
        })
    }

    pub fn needs_headers(&self) -> bool {
        !self.headers.is_empty() || self.other_headers.is_some()
    }

    pub fn check(&self, answer: &Answer<'_>) -> Result<(), Difference> {
        if answer.head.status != self.status {
            return Err(Mismatch::Status.into());
        }
        if self.length.is_some_and(|length| length != answer.body.len()) {
            return Err(Mismatch::Length.into());
        }
        if self.body.as_ref().is_some_and(|body| body != answer.body) {
            return Err(Mismatch::Body.into());
        }
        if self.sha256.as_ref().is_some_and(|hash| *hash != hexadecimal(&Sha256::digest(answer.body))) {
            return Err(Mismatch::Body.into());
        }
        if self.json.as_ref().is_some_and(|json| !json_holds(json, answer.body)) {
            return Err(Mismatch::Json.into());
        }
        self.check_headers(&answer.head.headers)
    }

    fn check_headers(&self, found: &[(String, Vec<u8>)]) -> Result<(), Difference> {
        for (name, wanted) in &self.headers {
            if !same(found, name, wanted.as_deref()) {
                return Err(header_difference(name, joined(found, name).as_deref(), wanted.as_deref()));
            }
        }
        let Some(others) = &self.other_headers else { return Ok(()) };
        let is_known = |name: &String| self.headers.iter().any(|(known, _)| known == name) || others.contains(name);
        match found.iter().find(|(name, _)| !is_known(name)) {
            Some((name, value)) => Err(header_difference(name, Some(value), None)),
            None => Ok(()),
        }
    }
}

/// True if the header has this value, or is absent as expected.
fn same(found: &[(String, Vec<u8>)], name: &str, wanted: Option<&[u8]>) -> bool {
    let mut values = found.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_slice());
    match (values.next(), values.next()) {
        (first, None) => first == wanted,
        _ => joined(found, name).as_deref() == wanted,
    }
}

/// Several lines of one name are one value, joined by commas (RFC 9110, section 5.3).
fn joined(found: &[(String, Vec<u8>)], name: &str) -> Option<Vec<u8>> {
    let values: Vec<_> = found.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_slice()).collect();
    (!values.is_empty()).then(|| values.join(&b", "[..]))
}

fn header_difference(name: &str, found: Option<&[u8]>, wanted: Option<&[u8]>) -> Difference {
    let shown =
        |value: Option<&[u8]>| value.map_or("missing".into(), |value| format!("{:?}", String::from_utf8_lossy(value)));
    Difference {
        kind: Mismatch::Header,
        detail: Some(format!("its {name} is {}, expected {}", shown(found), shown(wanted))),
    }
}

/// JavaScript decodes headers as Latin-1, so expected values are encoded the same way.
fn field_bytes(value: &str) -> Vec<u8> {
    let latin1: Option<Vec<u8>> = value.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
    latin1.unwrap_or_else(|| value.as_bytes().to_vec())
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
        check_with(expect, status, body, &[("content-encoding", b"gzip")]).map_err(|difference| difference.kind)
    }

    fn check_with(expect: &str, status: u16, body: &str, headers: &[(&str, &[u8])]) -> Result<(), Difference> {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_vec())).collect();
        let head = Head { status, headers, ..Head::default() };
        let request = serde_json::from_str(&format!(r#"{{"path":"/","expect":{expect}}}"#)).unwrap();
        Checker::new(&request).unwrap().check(&Answer { head, body: body.as_bytes() })
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

    #[test]
    fn headers_are_compared_whole_and_the_difference_is_named() {
        let html: &[(&str, &[u8])] = &[("content-type", b"text/html")];
        let wanted = r#"{"headers":[["content-type","text/plain"]]}"#;
        let detail = check_with(wanted, 200, "", html).unwrap_err().detail;
        assert_eq!(detail.as_deref(), Some(r#"its content-type is "text/html", expected "text/plain""#));
        let twice: &[(&str, &[u8])] = &[("vary", b"a"), ("vary", b"b")];
        assert_eq!(check_with(r#"{"headers":[["vary","a, b"]]}"#, 200, "", twice), Ok(()));
        assert!(check_with(r#"{"headers":[["vary","a"]]}"#, 200, "", twice).is_err());
        let latin: &[(&str, &[u8])] = &[("x-name", b"caf\xe9")];
        assert_eq!(check_with(r#"{"headers":[["x-name","café"]]}"#, 200, "", latin), Ok(()));
    }

    #[test]
    fn a_header_that_nobody_expected_is_a_difference_where_others_are_listed() {
        let headers: &[(&str, &[u8])] = &[("date", b"now"), ("x-error", b"1")];
        let expect = r#"{"headers":[],"otherHeaders":["date"]}"#;
        let detail = check_with(expect, 200, "", headers).unwrap_err().detail;
        assert_eq!(detail.as_deref(), Some(r#"its x-error is "1", expected missing"#));
        assert_eq!(check_with(r#"{"otherHeaders":["date","x-error"]}"#, 200, "", headers), Ok(()));
        assert_eq!(check_with("{}", 200, "", headers), Ok(()));
    }
}
