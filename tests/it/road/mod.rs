//! The road of an intent over a real store and a real tool, on both databases.

mod audit;
mod concurrency;
mod golden_path;
mod idle_checks;
mod refusals;

/// One test a backend: `both!(name, case)` where `case` is an async function over a `World`.
macro_rules! both {
    ($($name:ident)+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let home = crate::support::stores::Home::sqlite().await;
                super::$name(crate::support::world::World::new(home).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let home = crate::support::stores::Home::postgres().await;
                super::$name(crate::support::world::World::new(home).await).await;
            })+
        }
    };
}
pub(crate) use both;
