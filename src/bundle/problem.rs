//! What is wrong with a bundle: file, place, what, and what to do about it. All of it is collected, not the first only.

use std::{cell::RefCell, fmt};

/// A place in a file, counted from 1; line 0 means the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Place {
    /// The place of a byte offset in a text.
    #[must_use]
    pub fn of_offset(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { line: small(line), column: small(column) }
    }

    /// This place, so many characters further right.
    #[must_use]
    pub fn right(self, characters: usize) -> Self {
        let by = u32::try_from(characters).unwrap_or(u32::MAX);
        Self { column: self.column.saturating_add(by), ..self }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadProblem {
    /// The file, relative to the bundle's folder.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for LoadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.place.line > 0 {
            write!(f, ":{}:{}", self.place.line, self.place.column)?;
        }
        write!(f, ": {}", self.text)?;
        if !self.remedy.is_empty() {
            write!(f, "\n    {}", self.remedy)?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a bundle, by file and place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.0))]
pub struct LoadErrors(pub Vec<LoadProblem>);

fn joined(problems: &[LoadProblem]) -> String {
    problems.iter().map(LoadProblem::to_string).collect::<Vec<_>>().join("\n")
}

/// Where problems of one load are collected.
#[derive(Debug, Default)]
pub(super) struct Problems {
    errors: RefCell<Vec<LoadProblem>>,
    warnings: RefCell<Vec<LoadProblem>>,
}

impl Problems {
    pub(super) fn error(&self, problem: LoadProblem) {
        self.errors.borrow_mut().push(problem);
    }

    pub(super) fn warning(&self, problem: LoadProblem) {
        self.warnings.borrow_mut().push(problem);
    }

    /// The warnings, or the errors if there are any; both sorted, without repetitions.
    pub(super) fn settle(self) -> Result<Vec<LoadProblem>, LoadErrors> {
        let sorted = |mut list: Vec<LoadProblem>| {
            list.sort();
            list.dedup();
            list
        };
        let errors = sorted(self.errors.into_inner());
        if errors.is_empty() {
            Ok(sorted(self.warnings.into_inner()))
        } else {
            Err(LoadErrors(errors))
        }
    }
}
