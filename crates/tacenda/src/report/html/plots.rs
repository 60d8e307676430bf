//! Plots: inline SVG with a title and a description, coloured by the page's style.

use crate::report::html::context::day;
use crate::report::html::parts::data;
use crate::report::words::{clip, counted, number, percent};
use crate::report::{Bar, Panel, Picture, ReleaseFacts};
use maud::{Markup, Render, html};

/// The title and description of a plot, for screen readers.
pub struct Caption {
    /// The number of the plot on the page.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// What it shows, in sentences.
    pub description: Vec<Phrase>,
}

/// A piece of a description.
pub struct Phrase {
    text: String,
    is_data: bool,
}

impl Phrase {
    /// Our own words.
    pub fn said(text: impl Into<String>) -> Phrase {
        Phrase { text: text.into(), is_data: false }
    }

    /// A label or a name, which stands in every language as it is.
    pub fn data(text: &str) -> Phrase {
        Phrase { text: text.into(), is_data: true }
    }
}

/// The most letters of a description: it holds labels, and labels may be of any length.
const MOST_LETTERS: usize = 2000;

/// As much of a description as there is room for.
fn described(phrases: &[Phrase]) -> Markup {
    let mut left = MOST_LETTERS;
    let shown = phrases.iter().map_while(|phrase| {
        let room = left;
        left = left.saturating_sub(phrase.text.chars().count());
        (room > 0).then(|| {
            if phrase.is_data {
                data(&clip(&phrase.text, room))
            } else {
                html! { (clip(&phrase.text, room)) }
            }
        })
    });
    html! { @for phrase in shown { (phrase) } }
}

/// How attributes' lines are distinguished besides by their words.
const DASHES: [&str; 6] = ["", "7 4", "2 4", "10 3 2 3", "5 2", "1 3"];

fn svg(width: u32, height: u32, caption: &Caption, body: Markup) -> Markup {
    let (title, about) = (format!("t{}", caption.id), format!("d{}", caption.id));
    html! {
        svg class="plot" viewBox={ "0 0 " (width) " " (height) } role="img" aria-labelledby={ (title) " " (about) } {
            title id=(title) { (caption.title) }
            desc id=(about) { (described(&caption.description)) }
            (body)
        }
    }
}

/// A place in a plot.
fn px(place: f64) -> String {
    format!("{place:.1}")
}

fn rect(class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> Markup {
    html! { rect class=(class) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) {} }
}

fn rounded(class: &str, (x, y): (f64, f64), (width, height): (f64, f64), radius: u32) -> Markup {
    html! { rect class=(class) x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) rx=(radius) {} }
}

fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    html! { line class=(class) x1=(px(x1)) x2=(px(x2)) y1=(px(y1)) y2=(px(y2)) {} }
}

/// Where a text begins.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

fn text(class: Option<&str>, (x, y): (f64, f64), anchor: Anchor, words: impl Render) -> Markup {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    html! { text class=[class] x=(px(x)) y=(px(y)) text-anchor=(anchor) { (words) } }
}

/// A label or a name in a plot.
fn named(text: &str) -> Markup {
    html! { tspan translate="no" { (text) } }
}

const STRONG: Option<&str> = Some("strong");

/// A bar per release: people, and artificial rows on top.
pub fn timeline(releases: &[ReleaseFacts], caption: &Caption) -> Markup {
    let (width, height, base) = (900u32, 190u32, 140.0);
    let most = releases.iter().map(|release| release.rows).max().unwrap_or(0).max(1) as f64;
    let step = f64::from(width) / releases.len().max(1) as f64;
    let bar = (step * 0.56).min(72.0);
    // Labels are placed below as many bars as leave room for them.
    let every = (100.0 / step).ceil().max(1.0) as usize;
    let has_words = |at: usize| at.is_multiple_of(every) || at + 1 == releases.len() && at % every > every / 2;
    let body = html! {
        (line("axis", (0.0, base), (f64::from(width), base)))
        @for (at, release) in releases.iter().enumerate() {
            @let middle = step * (at as f64 + 0.5);
            @let left = middle - bar / 2.0;
            @let people = release.people as f64 / most * 105.0;
            @let added = release.counterfeits as f64 / most * 105.0;
            (rounded("bar", (left, base - people), (bar, people), 2))
            @if release.counterfeits > 0 {
                (rect("hatch", (left, base - people - added.max(2.0)), (bar, added.max(2.0))))
            }
            @if has_words(at) {
                (text(STRONG, (middle, base - people - added - 8.0), Anchor::Middle, number(release.people)))
                (text(STRONG, (middle, 160.0), Anchor::Middle, named(&clip(&release.label, 14))))
                (text(None, (middle, 177.0), Anchor::Middle, named(release.at.as_deref().map_or("", day))))
            }
        }
    };
    svg(width, height, caption, body)
}

/// How many people have which risk, with the promise's threshold.
pub fn risk(classes: &[u64], one_in: Option<u32>, caption: &Caption) -> Markup {
    let (width, height, base, left) = (240u32, 132u32, 104.0, 4.0);
    let whole = f64::from(width) - 2.0 * left;
    let most = classes.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = whole / classes.len().max(1) as f64;
    // If the lower end of a class is at or above the threshold, everyone in it has a higher risk than promised.
    let over = |at: usize| one_in.is_some_and(|one_in| at as u64 * u64::from(one_in) >= classes.len() as u64);
    let body = html! {
        @for (at, &count) in classes.iter().enumerate().filter(|(_, count)| **count > 0) {
            @let tall = (count as f64 / most * 84.0).max(1.5);
            @let class = if over(at) { "over" } else { "bar" };
            (rect(class, (left + step * at as f64 + 0.75, base - tall), (step - 1.5, tall)))
        }
        (line("axis", (left, base), (left + whole, base)))
        (text(None, (left, 119.0), Anchor::Start, "0"))
        (text(None, (left + whole / 2.0, 119.0), Anchor::Middle, "1 in 2"))
        (text(None, (left + whole, 119.0), Anchor::End, "1"))
        @if let Some(one_in) = one_in.filter(|&one_in| one_in > 0) {
            @let at = left + whole / f64::from(one_in);
            @let (anchor, shift) = if one_in == 1 { (Anchor::End, -4.0) } else { (Anchor::Start, 4.0) };
            (line("promise", (at, 4.0), (at, base)))
            (text(Some("promise-word"), (at + shift, 13.0), anchor, format!("1 in {one_in}")))
        }
    };
    svg(width, height, caption, body)
}

/// How many groups have how many people.
pub fn sizes(bars: &[Bar], least: Option<u32>, caption: &Caption) -> Markup {
    let (width, height, base) = (240u32, 132u32, 104.0);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1) as f64;
    let step = f64::from(width) / bars.len().max(6) as f64;
    let word = |bar: &Bar| match bar.from == bar.to {
        true => bar.from.to_string(),
        false => format!("{}–{}", bar.from, bar.to),
    };
    // As many labels as fit side by side; a letter is about six units wide.
    let widest = bars.iter().map(|bar| word(bar).chars().count()).max().unwrap_or(0);
    let every = ((widest as f64 * 6.0 + 8.0) / step).ceil().max(1.0) as usize;
    let body = html! {
        @for (at, bar) in bars.iter().enumerate() {
            @let tall = if bar.count == 0 { 0.0 } else { (bar.count as f64 / most * 90.0).max(1.5) };
            @let under = least.is_some_and(|least| bar.to < u64::from(least));
            @let left = step * at as f64;
            (rect(if under { "over" } else { "bar" }, (left + step * 0.1, base - tall), (step * 0.8, tall)))
            @if at % every == 0 {
                (text(None, (left + step / 2.0, 119.0), Anchor::Middle, word(bar)))
            }
        }
        (line("axis", (0.0, base), (f64::from(width), base)))
    };
    svg(width, height, caption, body)
}

/// One bar of the group sizes, for screen readers.
pub fn bar_in_words(bar: &Bar) -> String {
    let groups = counted(bar.count, "group", "groups");
    match bar.from == bar.to {
        true => format!("{}: {groups}", counted(bar.from, "person", "people")),
        false => format!("{} to {} people: {groups}", bar.from, bar.to),
    }
}

/// The precision of each attribute, release by release.
pub fn precision(releases: &[ReleaseFacts], attributes: usize, caption: &Caption) -> Markup {
    let (width, height, left, right, top, tall) = (900u32, 270u32, 44.0, 170.0, 14.0, 210.0);
    let Some(last) = releases.last() else { return svg(width, height, caption, html! {}) };
    let across = f64::from(width) - left - right;
    let x = |at: usize| left + across * at as f64 / (releases.len() - 1).max(1) as f64;
    let y = |precision: f64| top + tall * (1.0 - precision.clamp(0.0, 1.0));
    let every = (releases.len() as f64 * 74.0 / across).ceil().max(1.0) as usize;
    // Labels at the right end must not overlap; they are in the order of their lines.
    let mut order: Vec<usize> = (0..attributes).collect();
    order.sort_by(|&a, &b| {
        last.loss.attributes[b].precision.total_cmp(&last.loss.attributes[a].precision).then(a.cmp(&b))
    });
    let mut words: Vec<f64> =
        order.iter().map(|&attribute| y(last.loss.attributes[attribute].precision) + 4.0).collect();
    for at in 1..words.len() {
        words[at] = words[at].max(words[at - 1] + 15.0);
    }
    let below = words.last().map_or(0.0, |end| (end - f64::from(height) + 4.0).max(0.0));
    let body = html! {
        @for (at, word) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
            (line("axis", (left, y(at)), (left + across, y(at))))
            (text(None, (left - 8.0, y(at) + 4.0), Anchor::End, word))
        }
        @for (at, release) in releases.iter().enumerate().step_by(every) {
            (text(None, (x(at), top + tall + 20.0), Anchor::Middle, named(&clip(&release.label, 12))))
        }
        @for (place, &attribute) in order.iter().enumerate() {
            @let facts = |release: &ReleaseFacts| release.loss.attributes[attribute].precision;
            @let points: Vec<String> = releases
                .iter()
                .enumerate()
                .map(|(at, release)| format!("{:.1},{:.1}", x(at), y(facts(release))))
                .collect();
            polyline class="line" stroke-dasharray=(DASHES[attribute % DASHES.len()]) points=(points.join(" ")) {}
            @if releases.len() <= 24 {
                @for (at, release) in releases.iter().enumerate() {
                    circle class="dot" cx=(px(x(at))) cy=(px(y(facts(release)))) r="3" {}
                }
            }
            @let word = html! { (named(&clip(&last.loss.attributes[attribute].name, 16))) " " (percent(facts(last))) };
            (text(STRONG, (left + across + 12.0, words[place] - below), Anchor::Start, word))
        }
    };
    svg(width, height, caption, body)
}

/// Shares from 0 to 1, one below the other, each with its word.
pub fn shares(rows: &[(&str, f64)], caption: &Caption) -> Markup {
    let (width, left, tall) = (900u32, 190.0, 30u32);
    let across = f64::from(width) - left - 150.0;
    let body = html! {
        @for (at, &(word, share)) in rows.iter().enumerate() {
            @let top = f64::from(tall) * at as f64;
            (text(STRONG, (left - 12.0, top + 19.0), Anchor::End, named(&clip(word, 26))))
            (rounded("field", (left, top + 8.0), (across, 14.0), 3))
            (rounded("bar", (left, top + 8.0), (across * share.clamp(0.0, 1.0), 14.0), 3))
            (text(None, (left + across + 10.0, top + 19.0), Anchor::Start, percent(share)))
        }
    };
    svg(width, (tall * rows.len() as u32).max(tall) + 4, caption, body)
}

/// The regions of one release on two attributes.
pub fn regions(picture: &Picture, panel: &Panel, most: usize, caption: &Caption) -> Markup {
    let (size, left, top) = (240.0, 26.0, 4.0);
    let step = panel.boxes.len().div_ceil(most).max(1);
    let scale = |thousandth: u32| f64::from(thousandth) * size / 1000.0;
    let (right, under, bottom) = (left + size, top + size + 15.0, top + size);
    let (middle, center) = (left + size / 2.0, top + size / 2.0);
    let (across, up) = (&picture.across_ends, &picture.up_ends);
    let body = html! {
        (rounded("field", (left, top), (size, size), 2))
        @for &(from, to, low, high, _) in panel.boxes.iter().step_by(step) {
            @let (wide, tall) = (scale(to.saturating_sub(from)).max(1.0), scale(high.saturating_sub(low)).max(1.0));
            (rect("region", (left + scale(from), top + size - scale(high)), (wide, tall)))
        }
        (text(None, (left, under), Anchor::Start, named(&clip(&across.0, 10))))
        (text(None, (right, under), Anchor::End, named(&clip(&across.1, 10))))
        (text(STRONG, (middle, under), Anchor::Middle, named(&clip(&picture.across, 16))))
        g transform="rotate(-90)" {
            (text(None, (-bottom, 18.0), Anchor::Start, named(&clip(&up.0, 10))))
            (text(None, (-top, 18.0), Anchor::End, named(&clip(&up.1, 10))))
            (text(STRONG, (-center, 18.0), Anchor::Middle, named(&clip(&picture.up, 16))))
        }
    };
    svg(270, 264, caption, body)
}
