//! What every store must do: one list of cases, one test per case and database.

mod build;
mod effects;
mod entries;
mod questions;
mod schema;
mod sessions;
mod views;

macro_rules! conformance {
    ($($module:ident :: { $($case:ident),+ $(,)? });+ $(;)?) => {
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$module::$case(&crate::support::stores::Home::sqlite().await).await; })+)+
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() { super::$module::$case(&crate::support::stores::Home::postgres().await).await; })+)+
        }
    };
}

conformance! {
    sessions::{
        an_opened_session_reads_back_whole,
        a_session_moves_only_from_the_version_that_was_read,
        of_many_writers_of_one_version_one_wins,
        a_refused_unit_leaves_nothing_behind,
        a_guard_without_a_new_version_still_holds,
        a_unit_that_contradicts_its_guard_is_refused,
        units_of_one_call_are_answered_in_order,
    };
    effects::{
        a_claimed_key_is_held_by_its_action,
        the_same_effect_under_another_key_is_held_too,
        an_approved_repetition_takes_the_next_ordinal,
        a_released_key_is_free_in_the_next_generation,
        a_settled_effect_stays_claimed,
        settling_what_nobody_claimed_is_an_error,
        a_hundred_claims_of_one_key_make_one_dispatch,
        two_handles_on_one_database_make_one_dispatch,
        units_that_claim_two_keys_crosswise_all_get_an_answer,
        a_permit_comes_only_with_a_dispatch,
    };
    questions::{
        a_question_is_spent_once,
        of_many_answers_one_counts,
        a_question_of_an_action_is_the_pending_one,
        overdue_questions_are_found_across_tenants,
        spending_an_unknown_question_is_an_error,
    };
    views::{
        a_road_holds_session_data_statements_and_request,
        nothing_of_another_tenant_is_ever_returned,
        content_comes_back_byte_for_byte,
        a_request_id_leads_to_one_action,
        sums_count_what_waits_and_what_is_unknown,
        an_effect_view_shows_claims_and_who_waits,
        listings_page_without_gap_or_repetition,
        recovery_finds_writes_and_passes_over_finished_reads,
        a_bundle_is_kept_once,
        an_action_moves_only_from_the_version_that_was_read,
        a_row_that_makes_no_sense_is_named,
    };
    entries::{
        entries_come_back_as_they_were_hashed,
        times_survive_to_the_microsecond,
        filters_hold_together,
        a_session_has_each_place_once,
        entries_cannot_be_changed_or_deleted,
        pages_of_entries_have_no_gap,
    };
    schema::{
        every_statement_can_be_prepared,
        opening_again_migrates_nothing,
        a_newer_schema_is_refused,
        a_schema_of_other_files_is_refused,
        several_handles_migrate_an_empty_database_once,
        a_store_opened_to_read_refuses_every_commit,
    };
}
