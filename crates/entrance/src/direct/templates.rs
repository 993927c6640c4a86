//! The path templates by which requests to a service are counted. Workers match them likewise
//! (`packages/busbar/src/shared/path-templates`).

use std::collections::HashMap;

/// In the order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Text(String),
    Parameter,
    /// The last one: all that follows.
    Rest,
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
    /// Those for one method come first, then those with fixed text before parameters. A path that
    /// ends comes before one that goes on.
    fn rank(&self) -> (bool, Vec<u8>) {
        let kind = |segment: &Segment| match segment {
            Segment::Text(_) => 1,
            Segment::Parameter => 2,
            Segment::Rest => 3,
        };
        (self.method.is_none(), self.segments.iter().map(kind).chain([0]).collect())
    }

    /// `path` begins with a slash, and has no query. A slash at its end makes no difference.
    fn matches(&self, method: &[u8], path: &[u8]) -> bool {
        let mut parts = path.get(1..).unwrap_or_default().split(|&byte| byte == b'/');
        let is_of_method = self.method.as_ref().is_none_or(|own| own.as_bytes() == method);
        is_of_method
            && self.segments.iter().all(|segment| match (segment, parts.next()) {
                (_, None) => false,
                (Segment::Text(text), Some(part)) => text.as_bytes() == part,
                (Segment::Parameter, Some(part)) => !part.is_empty(),
                (Segment::Rest, Some(_)) => {
                    parts.by_ref().for_each(drop);
                    true
                }
            })
            && matches!((parts.next(), parts.next()), (None, _) | (Some(b""), None))
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
        templates.iter().find(|template| template.matches(method, path)).map(|template| template.path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(method: Option<&str>, path: &str) -> (String, Template) {
        let segment = |part: &str| match part {
            "*" => Segment::Rest,
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
        let cases: [(&[u8], &[u8], &str); 10] = [
            (b"GET", b"/items/7?x=/", "/items/:id"),
            (b"GET", b"/items/7/", "/items/:id"),
            (b"GET", b"/items/all", "/items/all"),
            (b"GET", b"/items", "/items"),
            (b"GET", b"/items/", "/items"),
            (b"PUT", b"/items/all", "/items/:any"),
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
}
