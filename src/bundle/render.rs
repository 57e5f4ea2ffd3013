//! A contract's call with its expressions evaluated: the request as it is fingerprinted and sent.

use serde_json::Value;

use super::contract::HttpCall;
use crate::{
    domain::request::RenderedRequest,
    expr::{Bindings, EvalError},
};

/// Why a request cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// An expression does not evaluate.
    #[error("{place}: {cause}")]
    Eval {
        /// Which part of the request.
        place: String,
        /// Why.
        cause: EvalError,
    },
    /// A value that cannot stand where it is wanted.
    #[error("{place} must be a text or an integer")]
    NotPlain {
        /// Which part of the request.
        place: String,
    },
}

impl HttpCall {
    /// The request of these values.
    ///
    /// # Errors
    /// [`RenderError`] names the part that could not be built.
    pub fn render(&self, bindings: &Bindings) -> Result<RenderedRequest, RenderError> {
        let path = self.path.iter().enumerate().map(|(index, segment)| {
            let place = format!("path segment {index}");
            let value = segment.eval(bindings).map_err(|cause| failed(&place, cause))?;
            plain(&value, place)
        });
        let headers = self.headers.iter().map(|(name, value)| {
            let place = format!("header `{name}`");
            let value = value.eval(bindings).map_err(|cause| failed(&place, cause))?;
            Ok((name.to_ascii_lowercase(), plain(&value, place)?))
        });
        let body = self.body.as_ref().map(|body| body.render(bindings)).transpose();
        Ok(RenderedRequest {
            endpoint: self.endpoint.clone(),
            method: self.method.as_str().to_owned(),
            path: path.collect::<Result<_, _>>()?,
            query: self.query_pairs(bindings)?,
            headers: headers.collect::<Result<_, _>>()?,
            body: body.map_err(|cause| failed("body", cause))?,
        })
    }

    fn query_pairs(&self, bindings: &Bindings) -> Result<Vec<(String, String)>, RenderError> {
        let Some(query) = &self.query else { return Ok(Vec::new()) };
        let value = query.render(bindings).map_err(|cause| failed("query", cause))?;
        let members =
            value.as_object().ok_or_else(|| RenderError::NotPlain { place: "query".to_owned() })?;
        let pairs = members.iter().map(|(name, member)| {
            Ok((name.clone(), plain(member, format!("query parameter `{name}`"))?))
        });
        pairs.collect()
    }
}

fn failed(place: &str, cause: EvalError) -> RenderError {
    RenderError::Eval { place: place.to_owned(), cause }
}

fn plain(value: &Value, place: String) -> Result<String, RenderError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(RenderError::NotPlain { place })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::{
        bundle::{
            contract::HttpMethod,
            template::{Member, Template},
        },
        expr::{Expr, Roots, Shape},
    };

    fn expr(source: &str) -> Expr {
        Expr::compile(source, &Roots::new().with("args", Shape::Any)).unwrap()
    }

    fn object(members: &[(&str, bool, &str)]) -> Template {
        let members = members.iter().map(|(name, optional, source)| {
            let value = Template::Expr(expr(source));
            ((*name).to_owned(), Member { optional: *optional, value })
        });
        Template::Object(members.collect())
    }

    fn call() -> HttpCall {
        HttpCall {
            endpoint: "library".to_owned(),
            method: HttpMethod::Post,
            path: vec![expr("\"v1\""), expr("args.shelf")],
            query: Some(object(&[("page", false, "args.page"), ("only", true, "args.only")])),
            body: Some(object(&[("book", false, "args.book")])),
            headers: BTreeMap::from([("X-Lang".to_owned(), expr("args.lang"))]),
            idempotency_header: None,
        }
    }

    fn rendered(args: Value) -> Result<RenderedRequest, RenderError> {
        let mut bindings = Bindings::new();
        bindings.bind("args", args);
        call().render(&bindings)
    }

    #[test]
    fn every_part_is_evaluated_and_absent_optional_members_are_left_out() {
        let args = json!({"shelf": "a/b", "page": 2, "book": {"id": 7}, "lang": "uk"});
        let request = rendered(args).unwrap();
        assert_eq!((request.method.as_str(), request.endpoint.as_str()), ("POST", "library"));
        assert_eq!(request.path, ["v1", "a/b"]);
        assert_eq!(request.query, [("page".to_owned(), "2".to_owned())]);
        assert_eq!(request.headers.get("x-lang").map(String::as_str), Some("uk"));
        assert_eq!(request.body, Some(json!({"book": {"id": 7}})));
        let all = json!({"shelf": "s", "page": 1, "only": "new", "book": 1, "lang": "fr"});
        assert_eq!(rendered(all).unwrap().query.len(), 2);
    }

    #[test]
    fn what_is_absent_or_not_plain_names_its_place() {
        let absent = rendered(json!({"page": 2, "book": 1, "lang": "uk"})).unwrap_err();
        assert!(absent.to_string().starts_with("path segment 1: "), "{absent}");
        let list = rendered(json!({"shelf": "s", "page": [1], "book": 1, "lang": "uk"}));
        assert_eq!(
            list.unwrap_err().to_string(),
            "query parameter `page` must be a text or an integer"
        );
    }
}
