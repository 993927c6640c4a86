//! Character classes, field lines, and comma-separated lists in values.

const TOKEN: u8 = 1;
const VALUE: u8 = 2;
const TARGET: u8 = 4;

/// Bits of each byte's classes:
/// - a name is a token (RFC 9110, 5.6.2);
/// - a value is visible ASCII, space, tab and bytes over 0x7f (RFC 9110, 5.5), as in Node;
/// - a target is visible ASCII.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
            || matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`')
            || matches!(byte, b'|' | b'~')
        {
            classes[at] |= TOKEN;
        }
        if byte == b'\t' || (byte >= b' ' && byte != 0x7f) {
            classes[at] |= VALUE;
        }
        if byte > b' ' && byte < 0x7f {
            classes[at] |= TARGET;
        }
        at += 1;
    }
    classes
};

pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && all(bytes, TOKEN)
}

pub fn is_token_byte(byte: u8) -> bool {
    CLASSES[byte as usize] & TOKEN != 0
}

pub fn is_value(bytes: &[u8]) -> bool {
    all(bytes, VALUE)
}

pub fn is_target(bytes: &[u8]) -> bool {
    !bytes.is_empty() && all(bytes, TARGET)
}

fn all(bytes: &[u8], class: u8) -> bool {
    bytes.iter().fold(class, |seen, &byte| seen & CLASSES[byte as usize]) != 0
}

/// Splits a field line into its name and its trimmed value. Returns nothing for a malformed line:
/// no colon, a name that is not a token, a space before the colon or at the start (RFC 9112, 5.1
/// and 5.2), or a character that is not allowed in values.
pub fn field_of(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if !is_token(name) || !is_value(value) {
        return None;
    }
    Some((name, trimmed(value)))
}

pub fn trimmed(value: &[u8]) -> &[u8] {
    let mut value = value;
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The trimmed elements of a comma-separated list, empty ones included.
pub fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(trimmed)
}

/// Parses a length: only digits, and at most 2^53, which JavaScript can represent. Node's parser
/// allows up to 2^64.
pub fn length_of(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    let mut length: u64 = 0;
    for &byte in value {
        if !byte.is_ascii_digit() {
            return None;
        }
        length = length.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
    }
    (length <= 1 << 53).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_names_and_trimmed_values() {
        assert_eq!(field_of(b"Host: a"), Some((&b"Host"[..], &b"a"[..])));
        assert_eq!(field_of(b"X:\t a b \t"), Some((&b"X"[..], &b"a b"[..])));
        assert_eq!(field_of(b"X:"), Some((&b"X"[..], &b""[..])));
        assert_eq!(field_of(b"X: \xff:"), Some((&b"X"[..], &b"\xff:"[..])));
        for line in [&b"X"[..], b": a", b"X : a", b" X: a", b"X\t: a", b"X(): a", b"X\xff: a", b"X: a\0", b"X: a\rb"] {
            assert_eq!(field_of(line), None, "{line:?}");
        }
        assert_eq!(field_of(b"X: \x7f"), None);
    }

    #[test]
    fn lengths_are_digits() {
        assert_eq!(length_of(b"005"), Some(5));
        for value in
            [&b""[..], b"-5", b"+5", b"5 5", b"0x5", b"5,", b"1_0", b"18446744073709551616", b"9223372036854775808"]
        {
            assert_eq!(length_of(value), None, "{value:?}");
        }
    }
}
