//! The methods that Node's parser accepts (`http.METHODS` of Node 24 and 26).

/// Sorted for the binary search.
const KNOWN: [&[u8]; 35] = [
    b"ACL",
    b"BIND",
    b"CHECKOUT",
    b"CONNECT",
    b"COPY",
    b"DELETE",
    b"GET",
    b"HEAD",
    b"LINK",
    b"LOCK",
    b"M-SEARCH",
    b"MERGE",
    b"MKACTIVITY",
    b"MKCALENDAR",
    b"MKCOL",
    b"MOVE",
    b"NOTIFY",
    b"OPTIONS",
    b"PATCH",
    b"POST",
    b"PROPFIND",
    b"PROPPATCH",
    b"PURGE",
    b"PUT",
    b"QUERY",
    b"REBIND",
    b"REPORT",
    b"SEARCH",
    b"SOURCE",
    b"SUBSCRIBE",
    b"TRACE",
    b"UNBIND",
    b"UNLINK",
    b"UNLOCK",
    b"UNSUBSCRIBE",
];

pub fn is_known(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"POST") || KNOWN.binary_search(&method).is_ok()
}

/// The idempotent methods of RFC 9110, 9.2.2, and safe methods of other standards.
pub fn is_idempotent(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"PUT" | b"DELETE" | b"QUERY" | b"PROPFIND" | b"REPORT")
}

/// Whether the text of a request, which may be cut off, asks for a head only. Line ends before it
/// are not part of it.
pub fn begins_head(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"HEAD ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(KNOWN.is_sorted());
        assert!(KNOWN.iter().all(|method| is_known(method)));
        assert!(!is_known(b"get") && !is_known(b"") && !is_known(b"PRI"));
    }
}
