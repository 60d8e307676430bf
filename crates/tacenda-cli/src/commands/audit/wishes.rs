//! What the command line says about columns and files, in the library's words.

use crate::args::{Order, ReadingArgs};
use crate::failure::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tacenda::ingest::foreign;
use tacenda::ingest::foreign::{Ask, Missing, Notation, Wish};

/// What is to be read.
pub fn ask(args: &ReadingArgs) -> Result<Ask, Failure> {
    let mut wishes: BTreeMap<String, Wish> = args.quasi.iter().map(|name| (name.clone(), Wish::default())).collect();
    for words in &args.notation {
        let (wish, notation) = about("--notation", words, &mut wishes)?;
        wish.notation = Notation::named(notation).ok_or_else(|| {
            let known = "auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact";
            Failure::usage(format!("--notation {words}: there is {known}"))
        })?;
    }
    for words in &args.hierarchy {
        let (wish, file) = about("--hierarchy", words, &mut wishes)?;
        if !Path::new(file).is_file() {
            return Err(Failure::usage(format!("--hierarchy {words}: there is no such file")));
        }
        wish.hierarchy = Some(PathBuf::from(file));
    }
    for words in &args.domain {
        let (wish, ends) = about("--domain", words, &mut wishes)?;
        let (lo, hi) = ends.split_once("..").ok_or_else(|| Failure::usage(format!("--domain {words}: say LO..HI")))?;
        wish.domain = Some((lo.into(), hi.into()));
    }
    for words in &args.any {
        match words.split_once('=') {
            Some((_, text)) => about("--any", words, &mut wishes)?.0.any.push(text.into()),
            None => wishes.values_mut().for_each(|wish| wish.any.push(words.clone())),
        }
    }
    for words in &args.missing {
        let (name, meaning) = words.split_once('=').map_or((None, words.as_str()), |(name, rest)| (Some(name), rest));
        let missing = Missing::named(meaning)
            .ok_or_else(|| Failure::usage(format!("--missing {words}: say any or value, or COLUMN=any")))?;
        match name {
            Some(_) => about("--missing", words, &mut wishes)?.0.missing = missing,
            None => wishes.values_mut().for_each(|wish| wish.missing = missing),
        }
    }
    for name in &args.quasi {
        let twice = args.quasi.iter().filter(|other| *other == name).count() > 1 || args.sensitive.contains(name);
        if twice {
            return Err(Failure::usage(format!("column {name} is named twice")));
        }
    }
    Ok(Ask {
        quasi: args.quasi.clone(),
        sensitive: args.sensitive.clone(),
        group: args.group.clone(),
        linked: args.linked.clone(),
        identifier: args.id.clone(),
        wishes,
    })
}

/// The column and the rest of `COLUMN=…`; the column must be a quasi column.
fn about<'a, 'w>(
    option: &str,
    words: &'a str,
    wishes: &'w mut BTreeMap<String, Wish>,
) -> Result<(&'w mut Wish, &'a str), Failure> {
    let (name, rest) =
        words.split_once('=').ok_or_else(|| Failure::usage(format!("{option} {words}: say COLUMN=…")))?;
    let wish = wishes.get_mut(name);
    Ok((wish.ok_or_else(|| Failure::usage(format!("{option} {words}: {name} is not one of --quasi")))?, rest))
}

/// The places of the files in order of time.
pub fn order(files: &[PathBuf], args: &ReadingArgs) -> Result<Vec<usize>, Failure> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    let dates: Vec<String> = match (args.dates.is_empty(), args.order) {
        (true, Order::Given) => return Ok(order),
        (true, Order::Date) => files.iter().map(|file| date_of(file)).collect::<Result<_, Failure>>()?,
        (false, _) if args.dates.len() != files.len() => {
            let (dates, files) = (args.dates.len(), files.len());
            return Err(Failure::usage(format!("--dates names {dates} dates for {files} files")));
        }
        (false, _) => args.dates.iter().map(|date| given(date)).collect::<Result<_, Failure>>()?,
    };
    order.sort_by(|&left, &right| dates[left].cmp(&dates[right]));
    match order.windows(2).find(|pair| dates[pair[0]] == dates[pair[1]]) {
        Some(pair) => Err(Failure::usage(format!("two files have the date {}", dates[pair[0]]))),
        None => Ok(order),
    }
}

fn date_of(file: &Path) -> Result<String, Failure> {
    let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    match foreign::date_in(&name) {
        Some(date) => Ok(sortable(date)),
        None => Err(Failure::usage(format!("--order date: {name} has no date that is clear; say --dates"))),
    }
}

fn given(date: &str) -> Result<String, Failure> {
    let read = foreign::date(date.trim()).map(sortable);
    read.ok_or_else(|| Failure::usage(format!("--dates {date}: say 2026-11-15, 2026-11, 2026-Q4, 2026-H2 or 2026")))
}

fn sortable((year, month, day): (u16, u8, u8)) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}
