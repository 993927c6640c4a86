//! The path templates by which requests to a service are counted. Workers match them likewise
//! (`packages/busbar/src/shared/path-templates`).

use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Text(String),
    Digits,
    /// Several parameters with these texts around them, of which the outer ones may be empty.
    Pieces(Vec<String>),
    Parameter,
    /// The last one: all that follows.
    Rest,
}

impl Segment {
    /// What is more definite comes first.
    fn rank(&self) -> u8 {
        match self {
            Self::Text(_) => 1,
            Self::Digits | Self::Pieces(_) => 2,
            Self::Parameter => 3,
            Self::Rest => 4,
        }
    }

    /// `part`: one segment of a path.
    fn matches(&self, part: &[u8]) -> bool {
        match self {
            Self::Text(text) => text.as_bytes() == part,
            Self::Digits => !part.is_empty() && part.iter().all(u8::is_ascii_digit),
            Self::Pieces(texts) => has_pieces(texts, part),
            Self::Parameter => !part.is_empty(),
            Self::Rest => true,
        }
    }
}

/// Each parameter has a byte at least, and ends where the next text is found first.
fn has_pieces(texts: &[String], part: &[u8]) -> bool {
    let [first, between @ .., last] = texts else { return false };
    let Some(mut rest) = part.strip_prefix(first.as_bytes()) else { return false };
    for text in between {
        let text = text.as_bytes();
        let found = rest.get(1..).and_then(|later| later.windows(text.len().max(1)).position(|window| window == text));
        let Some(found) = found else { return false };
        rest = rest.get(1 + found + text.len()..).unwrap_or_default();
    }
    rest.strip_suffix(last.as_bytes()).is_some_and(|parameter| !parameter.is_empty())
}

#[derive(Clone, Debug)]
pub struct Template {
    /// As it is shown.
    pub path: String,
    /// `None`: any.
    pub method: Option<String>,
    pub segments: Vec<Segment>,
}

impl Template {
    /// What is more definite comes first, a path that ends before one that goes on; of the same
    /// paths, those for one method before those for all.
    fn rank(&self) -> (Vec<u8>, u8) {
        let of_method = match self.method.as_deref() {
            // It comes before GET, which is for HEAD, too.
            Some("HEAD") => 0,
            Some(_) => 1,
            None => 2,
        };
        (self.segments.iter().map(Segment::rank).chain([0]).collect(), of_method)
    }

    fn is_for(&self, method: &[u8]) -> bool {
        self.method.as_ref().is_none_or(|own| own.as_bytes() == method || (own == "GET" && method == b"HEAD"))
    }

    /// `path` begins with a slash, and has no query. A slash at its end makes no difference.
    fn matches(&self, path: &[u8]) -> bool {
        let mut parts = path.get(1..).unwrap_or_default().split(|&byte| byte == b'/');
        for segment in &self.segments {
            match parts.next() {
                Some(part) if segment.matches(part) => {}
                _ => return false,
            }
            if *segment == Segment::Rest {
                return true;
            }
        }
        matches!((parts.next(), parts.next()), (None, _) | (Some(b""), None))
    }
}

/// The templates of all services.
#[derive(Default)]
pub struct Templates(HashMap<String, Vec<Template>>);

impl Templates {
    pub fn new(all: impl Iterator<Item = (String, Template)>) -> Self {
        let mut services: HashMap<String, Vec<Template>> = HashMap::new();
        for (service, template) in all {
            services.entry(service).or_default().push(template);
        }
        for templates in services.values_mut() {
            // Of equal ones, the first stays the first.
            templates.sort_by_key(Template::rank);
        }
        Self(services)
    }

    /// `path`: as the service gets it, with its query.
    pub fn find(&self, service: &str, method: &[u8], path: &[u8]) -> Option<&str> {
        let templates = self.0.get(service)?;
        let path = path.split(|&byte| byte == b'?').next().unwrap_or_default();
        let found = templates.iter().find(|template| template.is_for(method) && template.matches(path));
        found.map(|template| template.path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(method: Option<&str>, path: &str) -> (String, Template) {
        let segment = |part: &str| match part {
            "*" => Segment::Rest,
            "#" => Segment::Digits,
            _ if part.contains('~') => Segment::Pieces(part.split('~').map(str::to_owned).collect()),
            _ if part.starts_with(':') => Segment::Parameter,
            text => Segment::Text(text.to_owned()),
        };
        let segments = path.split('/').skip(1).filter(|part| !part.is_empty()).map(segment).collect();
        ("a".to_owned(), Template { path: path.to_owned(), method: method.map(str::to_owned), segments })
    }

    #[test]
    fn the_template_with_most_fixed_text_is_found() {
        let all = [
            template(None, "/*"),
            template(None, "/items/:id"),
            template(None, "/items/all"),
            template(None, "/items"),
            template(None, "/items/:id/parts/*"),
            template(Some("PUT"), "/items/:any"),
            template(None, "/"),
        ];
        let templates = Templates::new(all.into_iter());
        let cases: [(&[u8], &[u8], &str); 11] = [
            (b"GET", b"/items/7?x=/", "/items/:id"),
            (b"GET", b"/items/7/", "/items/:id"),
            (b"GET", b"/items/all", "/items/all"),
            (b"GET", b"/items", "/items"),
            (b"GET", b"/items/", "/items"),
            (b"PUT", b"/items/all", "/items/all"),
            (b"PUT", b"/items/7", "/items/:any"),
            (b"GET", b"/items/7/parts/8/9", "/items/:id/parts/*"),
            (b"GET", b"/items/7/parts", "/*"),
            (b"GET", b"/?x", "/"),
            (b"GET", b"/other/7", "/*"),
        ];
        for (method, path, expected) in cases {
            assert_eq!(templates.find("a", method, path), Some(expected), "{}", path.escape_ascii());
        }
        assert_eq!(templates.find("b", b"GET", b"/items"), None);
        let few = Templates::new([template(None, "/items/:id"), template(None, "/files/*")].into_iter());
        for path in [&b"/items"[..], b"/items/", b"/items/7/8", b"/files", b"/", b"", b"*"] {
            assert_eq!(few.find("a", b"GET", path), None, "{}", path.escape_ascii());
        }
        assert_eq!(few.find("a", b"GET", b"/files/"), Some("/files/*"));
    }

    #[test]
    fn a_segment_may_be_partly_a_parameter() {
        let all = [
            template(None, "/n/#"),
            template(None, "/n/:id"),
            template(None, "/f/~-v~.html"),
            template(Some("GET"), "/h"),
        ];
        let templates = Templates::new(all.into_iter());
        let found = |method: &[u8], path: &str| templates.find("a", method, path.as_bytes()).map(str::to_owned);
        assert_eq!(found(b"GET", "/n/12").as_deref(), Some("/n/#"));
        assert_eq!(found(b"GET", "/n/12x").as_deref(), Some("/n/:id"));
        assert_eq!(found(b"HEAD", "/h").as_deref(), Some("/h"));
        assert_eq!(found(b"POST", "/h"), None);
        for path in ["/f/a-v1.html", "/f/a-v-v2.html.html"] {
            assert_eq!(found(b"GET", path).as_deref(), Some("/f/~-v~.html"), "{path}");
        }
        for path in ["/f/-v1.html", "/f/a-v.html", "/f/a-v1.htm", "/f/a", "/f/.html"] {
            assert_eq!(found(b"GET", path), None, "{path}");
        }
    }
}
