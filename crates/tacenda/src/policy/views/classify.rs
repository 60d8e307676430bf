//! How well a class is told by a published view: the paper's classification errors, side by side.
//!
//! The learner is the caller's: this library has none. It gets the published part for learning and the
//! published part for testing, both generalised alike, as numbers a decision tree can divide: one column
//! for a number (the middle of its span), one column a published value for a category.

use crate::model::{Cuts, Requirement, Span, View, ViewColumn, ViewRows};
use crate::policy::views::{Options, Task, ViewsError, specialise};

/// Rows as a learner sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// One row of numbers a person; every row has as many.
    pub features: Vec<Vec<f64>>,
    /// The class of each row.
    pub classes: Vec<u32>,
}

/// The share of test rows whose class is told wrongly, by what was published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassificationErrors {
    /// The view as it would be published.
    pub published: f64,
    /// Everything as it is (the paper's BLE).
    pub unmodified: f64,
    /// The view k-anonymised on all its columns, by the same steps (KAE); `None` where that cannot be.
    pub k_anonymous: Option<f64>,
    /// Everything as it is but for the join columns, which are left out (RJE).
    pub without_join: f64,
}

/// What a learner sees of `rows` published with `cuts`, without the columns in `left_out`.
pub fn lesson(view: &View, rows: &ViewRows, cuts: &Cuts, left_out: &[usize]) -> Lesson {
    let mut lesson = Lesson { features: vec![Vec::new(); rows.len()], classes: rows.target().to_vec() };
    for (column, quasi) in view.columns.iter().enumerate().filter(|(column, _)| !left_out.contains(column)) {
        let spans = match &cuts[column] {
            Some(spans) => spans.clone(),
            None => (0..quasi.size()).map(Span::exact).collect(),
        };
        // The same columns for learning and testing: one a span of the cut, whether it occurs or not.
        for (features, &code) in lesson.features.iter_mut().zip(rows.column(column)) {
            let place = spans.partition_point(|span| span.hi < code);
            match quasi.hierarchy() {
                Some(_) => features.extend((0..spans.len()).map(|at| f64::from(u8::from(at == place)))),
                None => features.push((f64::from(spans[place].lo) + f64::from(spans[place].hi)) / 2.0),
            }
        }
    }
    lesson
}

/// Compares the errors of a learner. `train` is the part that `cuts` were made from, `test` another part with
/// the same columns; `learn` gives the share of the second lesson it gets wrong after seeing the first.
///
/// A cut covers the codes of the training part; a test value outside falls to the nearest span above.
pub fn classification_errors(
    task: &Task<'_>,
    cuts: &Cuts,
    test: &ViewRows,
    k: u64,
    options: &Options,
    learn: &dyn Fn(&Lesson, &Lesson) -> f64,
) -> Result<ClassificationErrors, ViewsError> {
    let view = task.view;
    let error = |cuts: &Cuts, left_out: &[usize]| {
        learn(&lesson(view, task.rows, cuts, left_out), &lesson(view, test, cuts, left_out))
    };
    let as_it_is: Cuts = vec![None; view.columns.len()];
    let all: Vec<usize> = (1..=task.earlier.len()).collect();
    Ok(ClassificationErrors {
        published: error(cuts, &[]),
        unmodified: error(&as_it_is, &[]),
        k_anonymous: k_anonymous_cuts(task, k, options)?.map(|cuts| error(&cuts, &[])),
        without_join: error(&as_it_is, &task.join_columns(&all)),
    })
}

/// The cuts of the view k-anonymised on all its columns, with nothing else out; `None` where that cannot be.
pub fn k_anonymous_cuts(task: &Task<'_>, k: u64, options: &Options) -> Result<Option<Cuts>, ViewsError> {
    let x = (0..task.view.columns.len()).map(|column| ViewColumn::new(0, column)).collect();
    let requirements = [Requirement::anonymity(x, vec![ViewColumn::record(0)], k)];
    let alone = Task { earlier: &[], requirements: &requirements, impossible: &[], ..*task };
    match specialise(&alone, options) {
        Ok(outcome) => Ok(Some(outcome.cuts)),
        Err(ViewsError::Unmeetable { .. } | ViewsError::NoneFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Hierarchy, PublishedView, Quasi};

    /// Learns the most frequent class of every row of features; an unseen row is told wrongly.
    fn by_heart(train: &Lesson, test: &Lesson) -> f64 {
        let told = |features: &Vec<f64>, class: u32| {
            let same = train.features.iter().zip(&train.classes).filter(|(other, _)| *other == features);
            let votes: Vec<u32> = same.map(|(_, &class)| class).collect();
            votes.iter().filter(|&&vote| vote == class).count() * 2 > votes.len()
        };
        let wrong = test.features.iter().zip(&test.classes).filter(|(features, class)| !told(features, **class));
        wrong.count() as f64 / test.classes.len() as f64
    }

    /// Eight people: the job tells the class, and the job joins.
    #[test]
    fn errors_stand_side_by_side() {
        let rows = ["a;office;*", "b;office;*", "c;works;*", "d;works;*"];
        let rows = rows.map(|row| row.split(';').map(String::from).collect::<Vec<_>>());
        let job = Quasi::new("job", Domain::Category(Hierarchy::from_rows(&rows).unwrap()));
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 10 });
        let view = View { name: "new".into(), columns: vec![job.clone(), age] };
        let codes = vec![vec![0, 0, 1, 1, 2, 2, 3, 3], vec![5; 8]];
        let rows = ViewRows::new(codes, vec![0, 0, 1, 1, 1, 1, 1, 1]);
        let other = View { name: "out".into(), columns: vec![job] };
        let out = ViewRows::new(vec![vec![0, 0, 1, 1, 2, 2, 3, 3]], Vec::new());
        let earlier = [PublishedView::recode(&other, &out, &vec![None])];
        let task = Task { view: &view, rows: &rows, earlier: &earlier, requirements: &[], impossible: &[] };
        let cuts: Cuts = vec![Some(vec![Span::new(0, 1), Span::exact(2), Span::exact(3)]), None];
        let found = classification_errors(&task, &cuts, &rows, 4, &Options::default(), &by_heart).unwrap();
        // Offices are half of each class and a tie is wrong; k = 4 makes the same two groups; without the job
        // two in eight are told the more frequent class.
        assert_eq!(
            found,
            ClassificationErrors { published: 0.5, unmodified: 0.0, k_anonymous: Some(0.5), without_join: 0.25 }
        );
        let told = lesson(&view, &rows, &cuts, &[]);
        assert_eq!(told.features[0], [1.0, 0.0, 0.0, 5.0]);
        assert_eq!(told.features[7], [0.0, 0.0, 1.0, 5.0]);
        assert_eq!(k_anonymous_cuts(&task, 9, &Options::default()).unwrap(), None);
    }
}
