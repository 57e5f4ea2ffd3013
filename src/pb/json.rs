//! Messages as JSON: the proto3 mapping with the names of the `.proto` (`session_state`), every field
//! present, absent messages left out.
//!
//! Generic over the API's own descriptors: a new field is in the JSON the moment it is in the proto.
//! 64-bit integers are texts, as the mapping wants (JSON readers round them), enums are their names,
//! timestamps RFC 3339, durations `"1.5s"`, bytes base64.

use std::{collections::HashMap, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use prost::{
    Message, Name,
    bytes::Buf,
    encoding::{WireType, decode_key, decode_varint},
};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
use serde_json::{Map, Value, json};

/// Messages inside messages; the API's own nest a handful deep.
const DEPTH_MAX: usize = 32;

/// Why a message has no JSON form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The descriptors do not know the type.
    #[error("the API's descriptors do not describe `{0}`")]
    Unknown(String),
    /// The bytes do not fit the descriptor.
    #[error("`{0}` is not encoded as its descriptor says")]
    Encoding(String),
}

/// The JSON form of a message.
///
/// # Errors
/// When the message is not one of `stateguard.v1`.
pub fn of<M: Message + Name>(message: &M) -> Result<Value, JsonError> {
    let name = M::full_name();
    TYPES.message(&name, &message.encode_to_vec(), 0)
}

/// What the descriptors say, by full name without the leading dot.
#[derive(Debug, Default)]
struct Types {
    messages: HashMap<String, DescriptorProto>,
    enums: HashMap<String, EnumDescriptorProto>,
}

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let mut types = Types::default();
    // INVARIANT: the bytes are what the build wrote; were they broken, every lookup would say so.
    let set = FileDescriptorSet::decode(super::FILE_DESCRIPTORS).unwrap_or_default();
    for file in set.file {
        let package = file.package().to_owned();
        types.add(&package, file.message_type, file.enum_type);
    }
    types
});

impl Types {
    fn add(
        &mut self,
        scope: &str,
        messages: Vec<DescriptorProto>,
        enums: Vec<EnumDescriptorProto>,
    ) {
        for known in enums {
            self.enums.insert(format!("{scope}.{}", known.name()), known);
        }
        for mut message in messages {
            let name = format!("{scope}.{}", message.name());
            let (nested, inner) =
                (std::mem::take(&mut message.nested_type), std::mem::take(&mut message.enum_type));
            self.add(&name, nested, inner);
            self.messages.insert(name, message);
        }
    }

    fn message(&self, name: &str, bytes: &[u8], depth: usize) -> Result<Value, JsonError> {
        let broken = || JsonError::Encoding(name.to_owned());
        if depth > DEPTH_MAX {
            return Err(broken());
        }
        let read = || fields(bytes).ok_or_else(broken);
        match name {
            "google.protobuf.Timestamp" => return timestamp(&read()?).ok_or_else(broken),
            "google.protobuf.Duration" => return Ok(duration(&read()?)),
            _ => {}
        }
        let unknown = || JsonError::Unknown(name.to_owned());
        let descriptor = self.messages.get(name).ok_or_else(unknown)?;
        let mut object = Map::new();
        for field in &descriptor.field {
            if let Some(default) = self.unset(field) {
                object.insert(field.name().to_owned(), default);
            }
        }
        for (number, wire) in read()? {
            let Some(field) = descriptor.field.iter().find(|f| f.number() == number) else {
                continue;
            };
            self.put(&mut object, field, &wire, depth)?;
        }
        Ok(Value::Object(object))
    }

    fn put(
        &self,
        object: &mut Map<String, Value>,
        field: &FieldDescriptorProto,
        wire: &Wire<'_>,
        depth: usize,
    ) -> Result<(), JsonError> {
        let name = field.name();
        let broken = || JsonError::Encoding(name.to_owned());
        if self.is_map(field) {
            let entry =
                self.message(type_name(field), wire.bytes().ok_or_else(broken)?, depth + 1)?;
            let key = entry.get("key").and_then(Value::as_str).map(str::to_owned);
            let value = entry.get("value").cloned().unwrap_or_default();
            if let (Some(key), Some(Value::Object(map))) = (key, object.get_mut(name)) {
                map.insert(key, value);
            }
            return Ok(());
        }
        if field.label() != Label::Repeated {
            object.insert(name.to_owned(), self.single(field, wire, depth)?);
            return Ok(());
        }
        let mut items = Vec::new();
        match (wire, is_packable(field.r#type())) {
            (Wire::Bytes(packed), true) => {
                let mut rest = *packed;
                while rest.has_remaining() {
                    let item = decode_varint(&mut rest).map_err(|_| broken())?;
                    items.push(self.single(field, &Wire::Varint(item), depth)?);
                }
            }
            (Wire::Bytes(_) | Wire::Varint(_), _) => items.push(self.single(field, wire, depth)?),
        }
        if let Some(Value::Array(list)) = object.get_mut(name) {
            list.extend(items);
        }
        Ok(())
    }

    fn single(
        &self,
        field: &FieldDescriptorProto,
        wire: &Wire<'_>,
        depth: usize,
    ) -> Result<Value, JsonError> {
        let broken = || JsonError::Encoding(field.name().to_owned());
        match (field.r#type(), wire) {
            (Type::Bool, Wire::Varint(v)) => Ok(json!(*v != 0)),
            (Type::Int32, Wire::Varint(v)) => Ok(json!(v.cast_signed() as i32)),
            (Type::Uint32, Wire::Varint(v)) => Ok(json!(v)),
            (Type::Int64, Wire::Varint(v)) => Ok(json!(v.cast_signed().to_string())),
            (Type::Uint64, Wire::Varint(v)) => Ok(json!(v.to_string())),
            (Type::Enum, Wire::Varint(v)) => Ok(self.enum_name(type_name(field), v.cast_signed())),
            (Type::String, Wire::Bytes(b)) => {
                std::str::from_utf8(b).map(|text| json!(text)).map_err(|_| broken())
            }
            (Type::Bytes, Wire::Bytes(b)) => Ok(json!(STANDARD.encode(b))),
            (Type::Message, Wire::Bytes(b)) => self.message(type_name(field), b, depth + 1),
            // The API has no other types; a new one needs its line here.
            _ => Err(broken()),
        }
    }

    fn is_map(&self, field: &FieldDescriptorProto) -> bool {
        field.label() == Label::Repeated
            && self
                .messages
                .get(type_name(field))
                .and_then(|m| m.options.as_ref())
                .is_some_and(prost_types::MessageOptions::map_entry)
    }

    /// What a field shows that was not set; nothing for absent messages and members of a `oneof`.
    fn unset(&self, field: &FieldDescriptorProto) -> Option<Value> {
        if field.label() == Label::Repeated {
            return Some(if self.is_map(field) { json!({}) } else { json!([]) });
        }
        if field.oneof_index.is_some() {
            return None;
        }
        match field.r#type() {
            Type::Bool => Some(json!(false)),
            Type::Int32 | Type::Uint32 => Some(json!(0)),
            Type::Int64 | Type::Uint64 => Some(json!("0")),
            Type::String | Type::Bytes => Some(json!("")),
            Type::Enum => Some(self.enum_name(type_name(field), 0)),
            Type::Message
            | Type::Group
            | Type::Double
            | Type::Float
            | Type::Fixed32
            | Type::Fixed64
            | Type::Sfixed32
            | Type::Sfixed64
            | Type::Sint32
            | Type::Sint64 => None,
        }
    }

    fn enum_name(&self, name: &str, number: i64) -> Value {
        let values = self.enums.get(name).map(|e| e.value.as_slice()).unwrap_or_default();
        values
            .iter()
            .find(|value| i64::from(value.number()) == number)
            .map_or_else(|| json!(number), |value| json!(value.name()))
    }
}

fn type_name(field: &FieldDescriptorProto) -> &str {
    field.type_name().trim_start_matches('.')
}

fn is_packable(ty: Type) -> bool {
    matches!(ty, Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Enum)
}

/// One encoded value.
#[derive(Debug, Clone, Copy)]
enum Wire<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Varint(_) => None,
        }
    }

    fn signed(self) -> i64 {
        match self {
            Self::Varint(value) => value.cast_signed(),
            Self::Bytes(_) => 0,
        }
    }
}

/// The fields of a message in the order of their bytes; fixed-width ones, of which the API has none,
/// are passed over.
fn fields(mut bytes: &[u8]) -> Option<Vec<(i32, Wire<'_>)>> {
    let mut found = Vec::new();
    while bytes.has_remaining() {
        let (number, wire) = decode_key(&mut bytes).ok()?;
        let number = i32::try_from(number).ok()?;
        match wire {
            WireType::Varint => {
                found.push((number, Wire::Varint(decode_varint(&mut bytes).ok()?)));
            }
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                found.push((number, Wire::Bytes(value)));
            }
            WireType::SixtyFourBit => bytes = bytes.get(8..)?,
            WireType::ThirtyTwoBit => bytes = bytes.get(4..)?,
            WireType::StartGroup | WireType::EndGroup => return None,
        }
    }
    Some(found)
}

fn seconds_and_nanos(fields: &[(i32, Wire<'_>)]) -> (i64, i64) {
    let of = |number| fields.iter().find(|(n, _)| *n == number).map_or(0, |(_, w)| w.signed());
    (of(1), of(2))
}

fn timestamp(fields: &[(i32, Wire<'_>)]) -> Option<Value> {
    let (seconds, nanos) = seconds_and_nanos(fields);
    let time = chrono::DateTime::from_timestamp(seconds, u32::try_from(nanos).ok()?)?;
    Some(json!(time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)))
}

fn duration(fields: &[(i32, Wire<'_>)]) -> Value {
    let (seconds, nanos) = seconds_and_nanos(fields);
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let fraction = format!("{:09}", nanos.unsigned_abs());
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    json!(format!("{sign}{}{point}{fraction}s", seconds.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::v1;

    #[test]
    fn names_are_those_of_the_proto_and_every_field_is_there() {
        let action = v1::Action {
            name: "sessions/s/actions/a".into(),
            state: v1::ActionState::Verified.into(),
            decision: Some(v1::Decision {
                verdict: v1::Verdict::Deny.into(),
                needs: vec![
                    v1::Verdict::ConfirmationRequired.into(),
                    v1::Verdict::ApprovalRequired.into(),
                ],
                decided_at: Some(prost_types::Timestamp {
                    seconds: 1_767_603_600,
                    nanos: 5_000_000,
                }),
                ..Default::default()
            }),
            ..Default::default()
        };
        let value = of(&action).unwrap();
        assert_eq!(value["state"], "VERIFIED");
        assert_eq!(value["session_state"], "");
        assert_eq!(value["replayed"], false);
        assert_eq!(
            value["decision"]["needs"],
            json!(["CONFIRMATION_REQUIRED", "APPROVAL_REQUIRED"])
        );
        assert_eq!(value["decision"]["decided_at"], "2026-01-05T09:00:00.005Z");
        assert_eq!(value["decision"]["reasons"], json!([]));
        assert!(value.get("outcome").is_none(), "an absent message stays out");
    }

    #[test]
    fn large_integers_are_texts_bytes_base64_and_maps_objects() {
        let escalation =
            v1::Escalation { amount_minor: 9_007_199_254_740_993, ..Default::default() };
        assert_eq!(of(&escalation).unwrap()["amount_minor"], "9007199254740993");
        let entry = v1::Entry { canonical_json: b"{}".to_vec(), ..Default::default() };
        assert_eq!(of(&entry).unwrap()["canonical_json"], "e30=");
        let scope = v1::Scope { limits: [("writes".to_owned(), -4)].into(), ..Default::default() };
        assert_eq!(of(&scope).unwrap()["limits"], json!({"writes": "-4"}));
        let attempts = v1::Outcome { attempts: -1, ..Default::default() };
        assert_eq!(of(&attempts).unwrap()["attempts"], -1);
    }

    #[test]
    fn a_chosen_member_of_a_oneof_is_shown_and_the_other_is_not() {
        let span = v1::TextSpan { pointer: "/body".into(), exact: "B-17".into() };
        let place = Some(v1::citation::Place::Text(span));
        let citation = v1::Citation { argument: "/id".into(), datum: "mail_1".into(), place };
        let value = of(&citation).unwrap();
        assert_eq!(value["text"]["exact"], "B-17");
        assert!(value.get("pointer").is_none());
    }

    #[test]
    fn durations_and_unknown_enum_numbers_have_a_form() {
        let wait = prost_types::Duration { seconds: 1, nanos: 500_000_000 };
        let intent =
            v1::SubmitIntentRequest { wait: Some(wait), result_view: 99, ..Default::default() };
        let value = of(&intent).unwrap();
        assert_eq!(value["wait"], "1.5s");
        assert_eq!(value["result_view"], 99);
    }
}
