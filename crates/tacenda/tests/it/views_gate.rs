//! Views that cheat are refused by the gate, and what holds for publishing views besides.

use crate::views_kit::{category, file, names, new_view, publish, table, views, views_mut};
use tacenda::audit::{Evidence, Fault, ViewEvidence, ViewVerdict, gate_view};
use tacenda::model::{
    Grouping, History, Membership, PastView, PublishedView, Regions, Release, Row, Schema, Seed, Span, Table,
};
use tacenda::promise::{ListedShare, PolicyFile, ViewPromise, XyAnonymity, XyLinkability};
use tacenda::publish::{Before, PublishError, Stamp, prepare_view, recode};

/// Paper 004, Example 1: names and jobs after jobs and diseases, and the class that is told by neither.
fn example_1() -> (PolicyFile, Table) {
    let name = category("name", &["alice;*", "bob;*", "cathy;*"]);
    let job = category("job", &["banker;office;*", "engineer;office;*", "clerk;works;*", "driver;works;*"]);
    let disease = category("disease", &["cancer", "hiv"]);
    let promise = share(600);
    let views: [(&str, &[&str]); 2] = [("health", &["job", "disease"]), ("tax", &["name", "job"])];
    let people = table(vec![vec![0, 0, 1, 1, 2], vec![0, 0, 2, 3, 1], vec![0, 0, 1, 0, 1]]);
    (file(vec![name, job, disease], &views, promise), people)
}

fn share(permille: u32) -> XyLinkability {
    XyLinkability {
        x: names(&["name", "tax.job"]),
        y: names(&["disease"]),
        max_confidence_permille: permille,
        listed: Vec::new(),
        only_listed: false,
    }
}

/// A release of the tax view with these regions, one per person, whoever stands in them.
fn tax_release(file: &PolicyFile, people: &Table, regions: &[[Span; 2]]) -> (Schema, Table, Release, Membership) {
    let quasi = vec![file.schema.quasi[0].clone(), file.schema.quasi[1].clone()];
    let narrow = Schema::new("id", quasi, Vec::new());
    let own = table(vec![people.quasi(0).to_vec(), people.quasi(1).to_vec()]);
    let mut grouping = Grouping::default();
    for (row, region) in (0u32..).zip(regions) {
        grouping.push_with_region(&[Row(row)], &[], region);
    }
    let (release, membership) =
        recode(&narrow, &grouping, &own, Stamp { seed: &Seed([7; 32]), number: 2, label: "tax", linked_ids: false });
    (narrow, own, release, membership)
}

/// What the gate says of a tax view with these regions, after `history` and what others published elsewhere.
fn gate_tax(
    file: &PolicyFile,
    people: &Table,
    history: &History,
    elsewhere: &[PastView],
    regions: &[[Span; 2]],
    limit: u64,
) -> ViewVerdict {
    let all = history.views.iter().chain(elsewhere);
    let earlier: Vec<PublishedView> = all.map(|past| past.published(&file.schema).unwrap()).collect();
    let places: Vec<usize> = (0..earlier.len()).collect();
    let is_elsewhere: Vec<bool> = places.iter().map(|&place| place >= history.views.len()).collect();
    let (narrow, own, release, membership) = tax_release(file, people, regions);
    gate_view(&ViewEvidence {
        release: Evidence { schema: &narrow, history, table: &own, release: &release, membership: &membership },
        name: "tax",
        earlier: &earlier,
        seen: &[places],
        demands: &views(file).demands(),
        impossible: &[],
        elsewhere: &is_elsewhere,
        pairs_suffice: false,
        limit,
    })
}

/// The faults of it, after health is out as it is.
fn judged(promise: impl Into<ViewPromise>, regions: &[[Span; 2]], limit: u64) -> Vec<Fault> {
    let (mut file, people) = example_1();
    views_mut(&mut file).promise = promise.into();
    let health = publish(&file, "health", &History::default(), &people).unwrap();
    let verdict = gate_tax(&file, &people, &health.history, &[], regions, limit);
    verdict.findings.iter().map(|finding| finding.fault).collect()
}

const ANY_NAME: Span = Span { lo: 0, hi: 2 };
const ANY_JOB: Span = Span { lo: 0, hi: 3 };

fn as_it_is() -> [[Span; 2]; 5] {
    [[0, 0], [0, 0], [1, 2], [1, 3], [2, 1]].map(|[name, job]| [Span::exact(name), Span::exact(job)])
}

#[test]
fn the_honest_view_passes() {
    assert_eq!(judged(share(600), &[0, 0, 1, 1, 2].map(|name| [Span::exact(name), ANY_JOB]), 1 << 20), []);
}

#[test]
fn a_view_published_as_it_is_is_refused() {
    assert_eq!(judged(share(600), &as_it_is(), 1 << 20), [Fault::JoinShareTooLarge]);
    let anonymity = XyAnonymity { x: names(&["name", "tax.job"]), y: names(&["disease"]), k: 2 };
    assert_eq!(judged(anonymity, &as_it_is(), 1 << 20), [Fault::JoinTooFewValues]);
}

#[test]
fn a_view_that_lies_is_refused() {
    // Cathy is said to be a banker.
    let mut regions = as_it_is();
    regions[4][1] = Span::exact(0);
    let found = judged(share(1000), &regions, 1 << 20);
    assert!(found.contains(&Fault::RegionMisses), "{found:?}");
    // Nobody is left who could be the engineer.
    assert!(found.contains(&Fault::ViewsNotRelated), "{found:?}");
}

/// science A4.3: everyone but Cathy is told exactly, so she is the engineer, whatever the join says.
#[test]
fn what_no_matching_allows_is_left_out() {
    let anonymity = XyAnonymity { x: names(&["tax.job"]), y: names(&["disease"]), k: 1 };
    let mut regions = as_it_is();
    regions[4] = [ANY_NAME, ANY_JOB];
    assert_eq!(judged(anonymity, &regions, 1 << 20), []);
    let only_hiv = XyLinkability {
        x: names(&["name"]),
        y: names(&["disease"]),
        max_confidence_permille: 700,
        listed: vec![ListedShare { values: names(&["hiv"]), spans: vec![Span::exact(1)], max_permille: 700 }],
        only_listed: true,
    };
    assert_eq!(judged(only_hiv, &regions, 1 << 20), [Fault::MatchingTellsMore]);
}

#[test]
fn a_join_too_large_to_judge_is_refused() {
    let regions = [0, 0, 1, 1, 2].map(|name| [Span::exact(name), ANY_JOB]);
    assert_eq!(judged(share(600), &regions, 2), [Fault::JoinNotJudged]);
}

/// science A4.3, G19: on the join flu is one of two for the driver, but only the clerk can be the row whose
/// job is open. The job has to stay open in the new view too.
#[test]
fn steps_are_taken_back_until_the_matching_tells_no_more() {
    let name = category("name", &["bob;*", "cathy;*"]);
    let job = category("job", &["clerk;*", "driver;*"]);
    let disease = category("disease", &["hiv", "flu"]);
    let promise = XyLinkability {
        x: names(&["name", "tax.job"]),
        y: names(&["disease"]),
        max_confidence_permille: 600,
        listed: vec![ListedShare { values: names(&["flu"]), spans: vec![Span::exact(1)], max_permille: 600 }],
        only_listed: true,
    };
    let file = file(vec![name, job, disease], &[("tax", &["name", "job"])], promise);
    let people = table(vec![vec![0, 1], vec![0, 1], vec![0, 1]]);
    let adopted =
        past("ward", &["job", "disease"], &[([Span::new(0, 1), Span::exact(0)], 1), ([Span::exact(1); 2], 1)]);
    let history = History::default();
    let before = Before { history: &history, snapshot: None };
    let tax = views(&file).find("tax").unwrap();
    let prepared = prepare_view(new_view(&file, tax), &[adopted], &Seed([7; 32]), before, &people, "tax").unwrap();
    let view = prepared.view().unwrap();
    assert!(view.steps_back > 0);
    assert!(view.notes.iter().any(|note| note.contains("taken back")), "{:?}", view.notes);
    assert!((0..prepared.release.group_count()).all(|group| prepared.release.region(group)[1] == Span::new(0, 1)));
}

/// A view made elsewhere.
fn past<const N: usize>(name: &str, columns: &[&str], rows: &[([Span; N], u32)]) -> PastView {
    let mut past = PastView {
        name: name.into(),
        columns: names(columns),
        recipients: names(&["everyone"]),
        rows: Regions::new(N),
        ..PastView::default()
    };
    for (row, count) in rows {
        past.rows.push(row);
        past.counts.push(*count);
    }
    past
}

#[test]
fn other_people_and_other_values_are_refused() {
    let (file, people) = example_1();
    let health = publish(&file, "health", &History::default(), &people).unwrap();
    let code = |result: Result<tacenda::publish::Prepared, PublishError>| result.unwrap_err().code();
    let fewer = table(vec![vec![0, 0, 1, 1], vec![0, 0, 2, 3], vec![0, 0, 1, 0]]);
    assert_eq!(code(publish(&file, "tax", &health.history, &fewer)), "R429");
    let changed = table(vec![vec![0, 0, 1, 1, 2], vec![0, 0, 2, 3, 3], vec![0, 0, 1, 0, 1]]);
    let before = Before { history: &health.history, snapshot: Some(&people) };
    let tax = views(&file).find("tax").unwrap();
    assert_eq!(code(prepare_view(new_view(&file, tax), &[], &Seed([7; 32]), before, &changed, "tax")), "R425");
}

/// What only somebody else can see is no part of the join, unless they may pool.
#[test]
fn recipients_who_may_not_pool_are_judged_apart() {
    let (mut file, people) = example_1();
    views_mut(&mut file).list[0].recipients = names(&["clinic"]);
    views_mut(&mut file).list[1].recipients = names(&["bank"]);
    views_mut(&mut file).pools = vec![names(&["clinic"]), names(&["bank"])];
    let health = publish(&file, "health", &History::default(), &people).unwrap();
    let tax = publish(&file, "tax", &health.history, &people).unwrap();
    let is_exact = |group: usize| tax.release.region(group).iter().all(|span| span.width() == 1);
    assert!((0..tax.release.group_count()).all(is_exact), "nothing is asked of the tax view alone");
    views_mut(&mut file).pools = vec![names(&["clinic", "bank"])];
    let tax = publish(&file, "tax", &health.history, &people).unwrap();
    assert!((0..tax.release.group_count()).any(|group| tax.release.region(group).iter().any(|span| span.width() > 1)));
}

/// science A4.6: a view made elsewhere, each row recoded on its own, with a row too many.
#[test]
fn a_locally_recoded_view_made_elsewhere_is_joined() {
    let (file, people) = example_1();
    let job = &file.schema.quasi[1];
    let exact = Span::exact;
    let rows = [
        ([job.root(), exact(0)], 1),
        ([exact(0); 2], 1),
        ([Span::new(2, 3), exact(1)], 1),
        ([exact(3), exact(0)], 1),
        ([exact(1); 2], 2),
    ];
    let adopted = past("ward", &["job", "disease"], &rows);
    let tax = views(&file).find("tax").unwrap();
    let history = History::default();
    let before = Before { history: &history, snapshot: None };
    let prepared = prepare_view(new_view(&file, tax), &[adopted], &Seed([7; 32]), before, &people, "tax").unwrap();
    assert_eq!(prepared.history.views.len(), 2);
    assert_eq!((prepared.history.views[0].release, prepared.history.views[1].release), (0, 1));
    // Engineers are all hiv in what is out, so engineers are not told.
    assert!((0..prepared.release.group_count()).all(|group| prepared.release.region(group)[1] != Span::exact(1)));
}

/// Only the share of hiv is bounded.
fn share_of_hiv(permille: u32) -> XyLinkability {
    XyLinkability {
        x: names(&["name", "tax.job"]),
        y: names(&["disease"]),
        max_confidence_permille: permille,
        listed: vec![ListedShare { values: names(&["hiv"]), spans: vec![Span::exact(1)], max_permille: permille }],
        only_listed: true,
    }
}

/// A ward without engineers takes Cathy out of the join of everything. The tax office and the hospital still
/// have hers, and can leave the ward aside.
#[test]
fn who_is_missing_elsewhere_is_judged_without_it() {
    let (mut file, people) = example_1();
    views_mut(&mut file).promise = share_of_hiv(600).into();
    let health = publish(&file, "health", &History::default(), &people).unwrap();
    let ward = past("ward", &["job"], &[([Span::exact(0)], 2), ([Span::exact(2)], 1), ([Span::exact(3)], 1)]);
    let before = Before { history: &health.history, snapshot: Some(&people) };
    let tax = views(&file).find("tax").unwrap();
    let prepared =
        prepare_view(new_view(&file, tax), std::slice::from_ref(&ward), &Seed([7; 32]), before, &people, "tax")
            .unwrap();
    let tells = |group: usize| prepared.release.region(group) == [Span::exact(2), Span::exact(1)];
    assert!(!(0..prepared.release.group_count()).any(tells), "Cathy is told to be the engineer");
    // And the gate does not rely on the policy for that.
    let mut regions = as_it_is();
    regions[2][1] = Span::new(2, 3);
    regions[3][1] = Span::new(2, 3);
    let verdict = gate_tax(&file, &people, &health.history, &[ward], &regions, 1 << 20);
    let faults: Vec<Fault> = verdict.findings.iter().map(|finding| finding.fault).collect();
    assert_eq!(faults, [Fault::JoinShareTooLarge]);
    assert_eq!(verdict.findings[0].people, 1, "only Cathy: Bob is one of two");
    assert!(
        verdict.warnings.iter().any(|warning| warning.contains("judged without that view")),
        "{:?}",
        verdict.warnings
    );
}

/// The promise is asked of the join of all and of its parts; an error speaks of the promise.
#[test]
fn an_error_numbers_the_promises_of_the_policy_file() {
    let (mut file, people) = example_1();
    views_mut(&mut file).promise = share_of_hiv(600).into();
    let health = publish(&file, "health", &History::default(), &people).unwrap();
    views_mut(&mut file).promise = share_of_hiv(1).into();
    let ward = past("ward", &["job"], &[([Span::exact(0)], 2), ([Span::exact(2)], 1), ([Span::exact(3)], 1)]);
    let before = Before { history: &health.history, snapshot: Some(&people) };
    let tax = views(&file).find("tax").unwrap();
    let refused = prepare_view(new_view(&file, tax), &[ward], &Seed([7; 32]), before, &people, "tax").unwrap_err();
    assert!(refused.to_string().contains("requirement 1"), "{refused}");
}

/// Three views that nothing joins, four rows each, and steps for two of them only.
#[test]
fn a_join_of_which_only_pairs_were_judged_is_refused_unless_the_policy_is_content() {
    let quasi = ["a", "b", "c"].map(|name| category(name, &["1", "2", "3", "4"])).to_vec();
    let promise = XyAnonymity { x: names(&["a", "c"]), y: names(&["b"]), k: 1 };
    let file = file(quasi, &[("new", &["a"])], promise);
    let own = table(vec![vec![0, 1, 2, 3]]);
    let rows = [0, 1, 2, 3].map(|code| ([Span::exact(code)], 1));
    let earlier = ["b", "c"].map(|name| past(name, &[name], &rows).published(&file.schema).unwrap());
    let narrow = Schema::new("id", vec![file.schema.quasi[0].clone()], Vec::new());
    let mut grouping = Grouping::default();
    (0..4).for_each(|row| grouping.push_with_region(&[Row(row)], &[], &[Span::exact(row)]));
    let (release, membership) =
        recode(&narrow, &grouping, &own, Stamp { seed: &Seed([7; 32]), number: 1, label: "new", linked_ids: false });
    let history = History::default();
    let judged = |pairs_suffice: bool| {
        gate_view(&ViewEvidence {
            release: Evidence {
                schema: &narrow,
                history: &history,
                table: &own,
                release: &release,
                membership: &membership,
            },
            name: "new",
            earlier: &earlier,
            seen: &[vec![0, 1]],
            demands: &views(&file).demands(),
            impossible: &[],
            elsewhere: &[false, false],
            pairs_suffice,
            limit: 20,
        })
    };
    let refused: Vec<Fault> = judged(false).findings.iter().map(|finding| finding.fault).collect();
    assert_eq!(refused, [Fault::JoinNotJudged]);
    let content = judged(true);
    assert!(content.findings.is_empty(), "{:?}", content.findings);
    assert!(content.warnings.iter().any(|warning| warning.contains("two at a time")), "{:?}", content.warnings);
}

/// One view made elsewhere says of a value now more, now less: that is one value, not two.
#[test]
fn a_value_of_y_that_is_out_twice_counts_once() {
    let job = category("job", &["clerk;*", "driver;*"]);
    let disease = category("disease", &["flu;viral;*", "hiv;viral;*", "cancer;cancer;*"]);
    let promise = XyAnonymity { x: names(&["job"]), y: names(&["disease"]), k: 2 };
    let file = file(vec![job, disease], &[("lab", &["job", "disease"])], promise);
    // Every clerk has the flu; the ward calls it viral once.
    let people = table(vec![vec![0, 0, 1, 1], vec![0, 0, 1, 2]]);
    let exact = Span::exact;
    let rows = [
        ([exact(0), exact(0)], 1),
        ([exact(0), Span::new(0, 1)], 1),
        ([exact(1), exact(1)], 1),
        ([exact(1), exact(2)], 1),
    ];
    let ward = past("ward", &["job", "disease"], &rows);
    let history = History::default();
    let before = Before { history: &history, snapshot: None };
    let lab = views(&file).find("lab").unwrap();
    let refused = prepare_view(new_view(&file, lab), &[ward], &Seed([7; 32]), before, &people, "lab").unwrap_err();
    assert!(matches!(refused, PublishError::Views(_) | PublishError::Refused(_)), "{refused}");
}

/// Whoever publishes views needs a project: what went to whom, and what was made elsewhere, must be remembered.
#[test]
fn a_series_without_a_disk_has_no_views() {
    let policy = "policy = 1
[series]
name = \"people\"
[columns]
id = { role = \"identifier\" }
job = { role = \"quasi\", type = \"category\", values = [\"clerk\", \"driver\"] }
[views.tax]
columns = [\"job\"]
[promise]
model = \"xy-anonymity\"
x = [\"job\"]
y = [\"tax.record\"]
k = 2
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tacenda.toml");
    std::fs::write(&path, policy).unwrap();
    let loaded = tacenda::ingest::read_policy(&path).unwrap();
    let error = tacenda::publish::InMemory::new(loaded, None).unwrap_err();
    assert_eq!(error.code(), "R206");
}
