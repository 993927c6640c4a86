//! CORS of the entrance's own responses: `packages/busbar/src/contract/http/cors.ts` does the same.

use super::fields::field_of;

/// Field lines for a response to a page of `origin`. None are for requests without an origin, and
/// for an app that allows none.
pub fn fields(allowed: &[String], origin: Option<&[u8]>) -> String {
    let Some(origin) = origin.filter(|_| !allowed.is_empty()) else { return String::new() };
    let is_listed = |one: &&String| one.as_str() == "*" || one.as_bytes() == origin;
    let found = allowed.iter().find(|one| one.as_str() == "*").or_else(|| allowed.iter().find(is_listed));
    let Some(found) = found else { return "vary: origin\r\n".to_owned() };
    format!("vary: origin\r\naccess-control-allow-origin: {found}\r\naccess-control-expose-headers: *\r\n")
}

/// `head`: the text of a request's head.
pub fn origin_of(head: &[u8]) -> Option<&[u8]> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    let mut fields = lines.filter_map(|line| field_of(line.strip_suffix(b"\r").unwrap_or(line)));
    fields.find(|(name, _)| name.eq_ignore_ascii_case(b"origin")).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_origins_may_read_and_others_may_not() {
        let [one, all] = [vec!["https://a.example".to_owned()], vec!["https://b.example".to_owned(), "*".to_owned()]];
        let allows = |value: &str| {
            format!("vary: origin\r\naccess-control-allow-origin: {value}\r\naccess-control-expose-headers: *\r\n")
        };
        assert_eq!(fields(&one, Some(b"https://a.example")), allows("https://a.example"));
        assert_eq!(fields(&one, Some(b"https://a.example.org")), "vary: origin\r\n");
        assert_eq!(fields(&all, Some(b"https://b.example")), allows("*"));
        assert_eq!(fields(&one, None), "");
        assert_eq!(fields(&[], Some(b"https://a.example")), "");
    }

    #[test]
    fn the_origin_is_a_field_of_the_head() {
        let head = b"GET /origin: HTTP/1.1\r\nHost: a\r\nOrigin:  https://a.example \r\nX: y\r\n\r\n";
        assert_eq!(origin_of(head), Some(&b"https://a.example"[..]));
        assert_eq!(origin_of(b"GET / HTTP/1.1\r\nX-Origin: a\r\n\r\n"), None);
        assert_eq!(origin_of(b""), None);
    }
}
