use serde_json::json;

use super::*;

/// A desk that lends books: what most rules of a contract see.
fn roots() -> Roots {
    let args = json!({
        "type": "object", "additionalProperties": false, "required": ["book_id", "weeks", "tags"],
        "properties": {
            "book_id": {"type": "string"}, "weeks": {"type": "integer"}, "note": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}}
        }
    });
    let book = json!({
        "type": "object", "additionalProperties": false,
        "required": ["owner", "status", "price_cents", "copies"],
        "properties": {
            "owner": {"type": "string"}, "price_cents": {"type": "integer"}, "rating": {"type": "number"},
            "status": {"type": "string", "enum": ["in", "out"]},
            "due": {"type": "string", "format": "date-time"},
            "copies": {"type": "array", "items": {
                "type": "object", "additionalProperties": false, "required": ["id"],
                "properties": {"id": {"type": "string"}, "shelf": {"type": "string"}}
            }},
            "extra": {"type": "object", "properties": {}}
        }
    });
    Roots::new()
        .with("args", Shape::from_schema(&args))
        .with("facts", Shape::record([("book", Shape::from_schema(&book))]))
        .with("case", Shape::optional_record([("book", Shape::from_schema(&book))]))
        .with("subject", Shape::record([("id", Shape::text())]))
        .with("now", Shape::Timestamp)
}

fn bindings() -> Bindings {
    let mut bindings = Bindings::new();
    bindings
        .bind("args", json!({"book_id": "b_1", "weeks": 3, "tags": ["new", "thin"]}))
        .bind("facts", json!({"book": {
            "owner": "cus_1", "status": "in", "price_cents": 1995, "rating": 4.5,
            "due": "2026-01-05T09:00:00Z", "copies": [{"id": "c_1", "shelf": "A"}, {"id": "c_2"}]
        }}))
        .bind("case", json!({}))
        .bind("subject", json!({"id": "cus_1"}))
        .bind_now(Timestamp::from_micros(1_767_603_600_000_000));
    bindings
}

fn eval(source: &str) -> Result<Value, EvalError> {
    Expr::compile(source, &roots()).unwrap_or_else(|e| panic!("{source}: {e}")).eval(&bindings())
}

fn refused(source: &str) -> String {
    match Expr::compile(source, &roots()) {
        Ok(_) => panic!("`{source}` compiled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn expressions_compute_with_integers_texts_lists_and_times() {
    for (source, expected) in [
        ("args.weeks * 2 + 1", json!(7)),
        ("facts.book.price_cents / 2", json!(997)),
        ("facts.book.owner == subject.id", json!(true)),
        ("facts.book.status in [\"in\", \"out\"]", json!(true)),
        ("size(args.tags) == 2 && args.tags[0] == \"new\"", json!(true)),
        ("args.tags.exists(t, t.startsWith(\"thi\"))", json!(true)),
        ("facts.book.copies.map(c, c.id)", json!(["c_1", "c_2"])),
        ("facts.book.copies.filter(c, has(c.shelf) && c.shelf == \"A\").size()", json!(1)),
        ("facts.book.copies.all(c, !has(c.shelf) || c.shelf != \"B\")", json!(true)),
        ("[\"lend\", args.book_id, args.weeks]", json!(["lend", "b_1", 3])),
        (
            "{\"minor\": facts.book.price_cents, \"currency\": \"EUR\"}",
            json!({"currency": "EUR", "minor": 1995}),
        ),
        ("has(case.book) ? case.book.status : \"none\"", json!("none")),
        ("has(facts.book.due) && timestamp(facts.book.due) <= now", json!(true)),
        ("now - duration(\"1h\") < now", json!(true)),
        ("minor(\"19.9\", \"EUR\") == 1990", json!(true)),
        ("string(args.weeks) + \"w\"", json!("3w")),
        ("args.book_id.matches(\"^b_[0-9]+$\")", json!(true)),
        ("facts.book[\"owner\"]", json!("cus_1")),
        ("-args.weeks", json!(-3)),
    ] {
        assert_eq!(eval(source), Ok(expected), "{source}");
    }
}

#[test]
fn what_an_expression_reads_is_listed() {
    let expr = Expr::compile(
        "facts.book.owner == subject.id && facts.book.copies[0].id != \"\" && args.tags.exists(t, t == args.book_id)",
        &roots(),
    )
    .unwrap();
    let reads: Vec<&str> = expr.reads().iter().map(String::as_str).collect();
    assert_eq!(
        reads,
        ["args.book_id", "args.tags", "facts.book.copies", "facts.book.owner", "subject.id"]
    );
    let expr = Expr::compile("has(case.book) && case.book.status == \"in\"", &roots()).unwrap();
    let reads: Vec<&str> = expr.reads().iter().map(String::as_str).collect();
    assert_eq!(reads, ["case.book", "case.book.status"]);
}

#[test]
fn unknown_roots_fields_and_functions_do_not_compile() {
    assert_eq!(
        refused("result.id == \"\""),
        "`result` does not exist here; there is args, case, facts, now, subject"
    );
    assert_eq!(
        refused("facts.book.ownr == subject.id"),
        "`facts.book.ownr` does not exist; there is copies, due, extra, owner, price_cents, rating, status"
    );
    assert!(
        refused("lower(args.book_id) == \"x\"")
            .starts_with("there is no function `lower`; there is size")
    );
    assert_eq!(refused("size(args.tags, 1) == 1"), "`size` takes 1 arguments, not 2");
    assert_eq!(refused("args.book_id.id == \"x\""), "`args.book_id` is a text and has no fields");
}

#[test]
fn optional_fields_need_a_guard_that_holds_where_they_are_read() {
    assert_eq!(
        refused("args.note == \"x\""),
        "`args.note` may be absent: guard it, as in `has(args.note) && …`"
    );
    for unguarded in [
        "args.note == \"x\" && has(args.note)",
        "has(args.note) || args.note == \"x\"",
        "!has(args.note) && args.note == \"x\"",
        "has(args.note) ? true : args.note == \"x\"",
        "facts.book.copies[0].shelf == \"A\"",
        "facts.book.copies.exists(c, has(c.shelf)) && facts.book.copies.exists(c, c.shelf == \"A\")",
        "case.book.status == \"in\"",
        "has(case.book.due)",
        "has(facts.book.extra) && facts.book.extra.anything == 1",
        "(has(args.note) && true) || args.note == \"x\"",
    ] {
        assert!(refused(unguarded).contains("may be absent"), "{unguarded}");
    }
    for guarded in [
        "has(args.note) && args.note == \"x\"",
        "!has(args.note) || args.note == \"x\"",
        "!(has(args.note) && args.weeks > 1) || args.note == \"x\"",
        "has(args.note) ? args.note == \"x\" : true",
        "!has(args.note) ? true : args.note == \"x\"",
        "has(facts.book.copies[0].shelf) && facts.book.copies[0].shelf == \"A\"",
        "has(case.book) && has(case.book.due) && case.book.due != \"\"",
        "has(facts.book.extra) && has(facts.book.extra.anything) && facts.book.extra.anything == 1",
    ] {
        assert!(Expr::compile(guarded, &roots()).is_ok(), "{guarded}");
    }
}

#[test]
fn comparisons_that_never_hold_do_not_compile() {
    assert_eq!(
        refused("args.weeks == \"3\""),
        "compares an integer with a text, which never holds"
    );
    assert_eq!(
        refused("args.book_id in [1, 2]"),
        "compares a text with an integer, which never holds"
    );
    assert_eq!(
        refused("facts.book.status == \"lent\""),
        "`lent` is not a member of `facts.book.status`; there is in, out"
    );
    assert!(refused("facts.book.status in [\"in\", \"gone\"]").contains("`gone`"));
    assert_eq!(refused("args.weeks && true"), "this is an integer where true or false is needed");
    assert_eq!(
        refused("args.weeks + args.book_id"),
        "an integer and a text cannot be computed with each other"
    );
}

#[test]
fn what_the_language_leaves_out_says_what_to_write_instead() {
    assert!(refused("args.weeks * 1.5 > 2.0").contains("count minor units"));
    assert!(refused("1u == 1u").contains("leave the `u` out"));
    assert!(refused("args.?note == \"x\"").starts_with("not an expression"));
    assert!(refused("args.book_id.matches(args.book_id)").contains("quoted text"));
    assert!(refused("args.book_id.matches(\"(?=a)\")").contains("linear time"));
    assert!(refused("facts[args.book_id] == 1").contains("computed field name"));
    assert!(refused("args.tags.exists(facts, true)").contains("hides a root"));
    assert!(refused("args.weeks +").starts_with("not an expression"));
}

#[test]
fn an_error_points_into_its_source() {
    let error = Expr::compile("facts.book.owner == nobody.id", &roots()).unwrap_err();
    assert_eq!(error.offset, Some(20));
}

#[test]
fn deep_and_long_sources_are_refused_and_do_not_end_the_process() {
    let nested = format!("{}1{}", "(".repeat(33), ")".repeat(33));
    assert_eq!(Expr::compile(&nested, &roots()).unwrap_err().problem, Problem::TooDeep);
    let chain = vec!["1"; 200].join(" + ");
    assert_eq!(Expr::compile(&chain, &roots()).unwrap_err().problem, Problem::TooDeep);
    let long = format!("\"{}\" == \"\"", "x".repeat(MAX_SOURCE_BYTES));
    assert!(matches!(Expr::compile(&long, &roots()).unwrap_err().problem, Problem::TooLong { .. }));
    let lists = format!("{}1{} == []", "[".repeat(32), "]".repeat(32));
    let at_limit = Expr::compile(&lists, &roots()).unwrap();
    assert_eq!(at_limit.eval_true(&bindings()), Ok(false));
}

#[test]
fn the_deepest_tree_evaluates_on_a_workers_stack() {
    let deepest = vec!["1"; MAX_TREE_DEPTH].join(" + ");
    let expr = Expr::compile(&deepest, &roots()).unwrap();
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    let answer = worker.spawn(move || expr.eval(&bindings())).unwrap().join().unwrap();
    assert_eq!(answer, Ok(json!(MAX_TREE_DEPTH)));
}

#[test]
fn loops_have_a_limit_of_nesting_and_of_steps() {
    let nested = "args.tags.all(a, args.tags.all(b, args.tags.all(c, a == b || b == c)))";
    assert_eq!(Expr::compile(nested, &roots()).unwrap_err().problem, Problem::LoopsTooDeep);
    let twice =
        Expr::compile("args.tags.all(a, args.tags.all(b, a == b || a != b))", &roots()).unwrap();
    let tags = |count: usize| {
        let mut bindings = bindings();
        bindings.bind("args", json!({"book_id": "b", "weeks": 1, "tags": vec!["t"; count]}));
        bindings
    };
    assert_eq!(twice.eval_true(&tags(100)), Ok(true));
    assert_eq!(twice.eval_true(&tags(1_001)), Err(EvalError::TooCostly));
}

#[test]
fn an_error_is_neither_true_nor_false_and_holds_no_data() {
    let expr = Expr::compile("facts.book.price_cents / args.weeks > 1", &roots()).unwrap();
    let mut bindings = bindings();
    bindings.bind("args", json!({"book_id": "b", "weeks": 0, "tags": []}));
    assert_eq!(expr.eval_true(&bindings), Err(EvalError::Arithmetic));
    bindings.bind("args", json!({"book_id": "b", "tags": []}));
    assert_eq!(expr.eval_true(&bindings), Err(EvalError::Absent));
    bindings.bind("args", json!({"book_id": "b", "weeks": "secret", "tags": []}));
    assert_eq!(expr.eval_true(&bindings), Err(EvalError::WrongKinds));
    assert!(!expr.eval_true(&bindings).unwrap_err().to_string().contains("secret"));
    bindings.bind("args", json!({"book_id": "b", "weeks": u64::MAX, "tags": []}));
    assert!(matches!(expr.eval_true(&bindings), Err(EvalError::Unusable { .. })));
    assert_eq!(
        expr.eval_true(&Bindings::new()),
        Err(EvalError::Unbound { root: "args".to_owned() })
    );
    assert_eq!(eval("args.weeks + 9223372036854775807"), Err(EvalError::Arithmetic));
    assert_eq!(eval("args.tags[7]"), Err(EvalError::OutOfBounds));
}

#[test]
fn only_true_and_false_are_conditions() {
    let expr = Expr::compile("args.weeks", &roots()).unwrap();
    assert!(matches!(expr.eval_true(&bindings()), Err(EvalError::NotTrueOrFalse { .. })));
    assert_eq!(expr.kind(), Kind::Int);
}

#[test]
fn large_integers_keep_their_digits() {
    let mut bindings = bindings();
    bindings.bind("args", json!({"book_id": "b", "weeks": 9_007_199_254_740_993_i64, "tags": []}));
    let expr = Expr::compile("args.weeks", &roots()).unwrap();
    assert_eq!(expr.eval(&bindings), Ok(json!(9_007_199_254_740_993_i64)));
}

#[test]
fn records_come_back_with_sorted_members() {
    let mut bindings = bindings();
    let names: Vec<String> = (0..40).map(|n| format!("m{n:02}")).collect();
    let record: serde_json::Map<String, Value> =
        names.iter().rev().map(|n| (n.clone(), json!(1))).collect();
    bindings.bind("facts", json!({"book": record}));
    let expr = Expr::compile("facts.book", &roots()).unwrap();
    let value = expr.eval(&bindings).unwrap();
    assert_eq!(value.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), names);
}

#[test]
fn minor_reads_money_exactly_or_not_at_all() {
    for (value, currency, expected) in [
        ("19.9", "EUR", Some(1990)),
        ("19.90", "EUR", Some(1990)),
        ("19.900", "EUR", Some(1990)),
        ("19.905", "EUR", None),
        ("-0.01", "EUR", Some(-1)),
        ("5", "JPY", Some(5)),
        ("5.5", "JPY", None),
        ("1.234", "KWD", Some(1234)),
        ("1", "XXX", None),
        ("1", "eur", None),
        ("", "EUR", None),
        (".5", "EUR", None),
        ("1.", "EUR", None),
        ("+1", "EUR", None),
        ("1e2", "EUR", None),
        ("1 000", "EUR", None),
        ("99999999999999999999", "EUR", None),
    ] {
        assert_eq!(functions::minor(value, currency), expected, "{value} {currency}");
    }
}

#[test]
fn minor_of_a_json_number_takes_its_shortest_digits() {
    let roots = Roots::new().with("result", Shape::Any);
    let expr = Expr::compile("minor(result.total, \"EUR\")", &roots).unwrap();
    for (total, expected) in
        [(json!(19.99), 1999), (json!(20), 2000), (json!("0.07"), 7), (json!(1.1), 110)]
    {
        let mut bindings = Bindings::new();
        bindings.bind("result", json!({"total": total}));
        assert_eq!(expr.eval(&bindings), Ok(json!(expected)));
    }
}

#[test]
fn paths_of_bindings_are_found() {
    let bindings = bindings();
    assert_eq!(bindings.value("facts.book.owner"), Some(&json!("cus_1")));
    assert!(
        bindings.has("args.book_id")
            && !bindings.has("args.note")
            && !bindings.has("effect.amount")
    );
}
