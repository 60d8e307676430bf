//! Made-up people in views, published one after another, and the join of it all row by row.

use tacenda::audit::{materialise, read_naively};
use tacenda::model::{
    Domain, Hierarchy, History, PublishedView, Quasi, RecordKey, Rng, Schema, Seed, Table, Value, Values, View,
};
use tacenda::promise::{
    NamedView, Output, PolicyFile, Promised, Reasons, SeriesSettings, ShareLimits, ViewPromise, Views, XyAnonymity,
};
use tacenda::publish::{Before, NewView, Prepared, PublishError, prepare_view};

pub fn category(name: &str, rows: &[&str]) -> Quasi {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Quasi::new(name, Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
}

pub fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_string()).collect()
}

/// A policy file with these columns and views, each for everyone.
pub fn file(quasi: Vec<Quasi>, views: &[(&str, &[&str])], promise: impl Into<ViewPromise>) -> PolicyFile {
    let named = |&(name, columns): &(&str, &[&str])| NamedView {
        name: name.into(),
        columns: names(columns),
        recipients: names(&["everyone"]),
        ..NamedView::default()
    };
    PolicyFile {
        series: SeriesSettings { name: "views".into(), ..SeriesSettings::default() },
        schema: Schema::new("id", quasi, Vec::new()),
        promise: Promised::Views(Views { list: views.iter().map(named).collect(), ..Views::new(promise) }),
        reasons: Reasons::default(),
        limits: ShareLimits::default(),
        output: Output::default(),
    }
}

/// The views of such a file.
pub fn views(file: &PolicyFile) -> &Views {
    file.views().expect("the file has views")
}

/// The same, to change them.
pub fn views_mut(file: &mut PolicyFile) -> &mut Views {
    match &mut file.promise {
        Promised::Views(views) => views,
        Promised::Series(_) => panic!("the file has views"),
    }
}

/// A table from columns of codes.
pub fn table(columns: Vec<Vec<u32>>) -> Table {
    let people = columns[0].len();
    let keys = (0..people as u64).map(|lo| RecordKey { hi: 0, lo }).collect();
    let values = Values::from_ordered(vec![Box::from([])]);
    Table::new(keys, columns, vec![Value(0); people], values, Vec::new(), Vec::new())
}

/// What is to be published.
pub fn new_view<'a>(file: &'a PolicyFile, named: &'a NamedView) -> NewView<'a> {
    NewView { schema: &file.schema, views: views(file), named }
}

/// Publishes a view after `history`.
pub fn publish(file: &PolicyFile, view: &str, history: &History, table: &Table) -> Result<Prepared, PublishError> {
    let named = views(file).find(view).unwrap();
    let before = Before { history, snapshot: (history.releases > 0).then_some(table) };
    prepare_view(new_view(file, named), &[], &Seed([7; 32]), before, table, view)
}

/// Some of the columns an attacker may know.
pub fn some_x(rng: &mut Rng) -> Vec<String> {
    match rng.below(4) {
        0 => names(&["a", "n"]),
        1 => names(&["one.a", "two.a", "n"]),
        2 => names(&["two.a", "three.n"]),
        _ => names(&["one.a", "one.n"]),
    }
}

/// Something that must stay open.
pub fn some_y(rng: &mut Rng, with_records: bool) -> Vec<String> {
    match rng.below(if with_records { 5 } else { 3 }) {
        0 => names(&["s"]),
        1 => names(&["t"]),
        2 => names(&["s", "t"]),
        3 => names(&["record"]),
        _ => names(&["two.record"]),
    }
}

/// Publishes three views of random people under random promises, and holds each against the join row by
/// row. How many views were published when another was out already.
pub fn keep_their_promise<P: Into<ViewPromise>>(promise: impl Fn(&mut Rng) -> P) -> usize {
    let mut after_another = 0;
    for seed in 0..300 {
        let mut rng = Rng::from_number(seed);
        let quasi = vec![
            category("a", &["p;l;*", "q;l;*", "r;m;*", "s;m;*"]),
            Quasi::new("n", Domain::Integer { lo: 0, hi: 12 }),
            category("s", &["0", "1", "2"]),
            category("t", &["0", "1", "2", "3"]),
        ];
        let people = 6 + rng.below(20) as usize;
        let column = |quasi: &Quasi, rng: &mut Rng| -> Vec<u32> {
            (0..people).map(|_| rng.below(quasi.size().into()) as u32).collect()
        };
        let columns = quasi.iter().map(|quasi| column(quasi, &mut rng)).collect();
        let table = table(columns);
        let list: [(&str, &[&str]); 3] = [("one", &["a", "n", "s"]), ("two", &["a", "t"]), ("three", &["n", "t"])];
        let mut file = file(quasi, &list, promise(&mut rng));
        if rng.below(3) == 0 {
            let also = XyAnonymity { x: names(&["n"]), y: names(&["record"]), k: 2 };
            views_mut(&mut file).also.push(also.into());
        }
        let mut order = ["one", "two", "three"];
        rng.shuffle(&mut order);
        let mut history = History::default();
        for view in order {
            match publish(&file, view, &history, &table) {
                Ok(prepared) => {
                    after_another += usize::from(history.releases > 0);
                    history = prepared.history;
                    assert_holds(&file, &history, seed);
                }
                Err(PublishError::Views(_) | PublishError::Refused(_)) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
    }
    after_another
}

/// Every promise on the join of whatever part of what is out somebody holds, row by row.
fn assert_holds(file: &PolicyFile, history: &History, seed: u64) {
    let published: Vec<PublishedView> =
        history.views.iter().map(|past| past.published(&file.schema).unwrap()).collect();
    let demands = views(file).demands();
    let all = (1usize << published.len()) - 1;
    for part in 1..=all {
        let held: Vec<PublishedView> =
            (0..published.len()).filter(|view| part >> view & 1 == 1).map(|view| published[view].clone()).collect();
        let held_views: Vec<&View> = held.iter().map(|published| &published.view).collect();
        let joined = materialise(&held, &views(file).impossible);
        for requirement in demands.iter().flat_map(|demand| demand.requirements(&held_views, |_| false)) {
            if part < all && requirement.x.is_empty() {
                continue;
            }
            assert!(read_naively(&held, &joined, &requirement).holds, "seed {seed}, part {part:b}");
        }
    }
}
