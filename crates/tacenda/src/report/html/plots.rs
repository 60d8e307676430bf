//! Plots: inline SVG with a title and a description, coloured by the page's style.

use crate::report::html::{clip, escape};
use crate::report::words::{number, percent};
use crate::report::{Bar, Panel, Picture, ReleaseFacts};
use std::fmt::Write;

/// What a plot is called, for those who do not see it.
pub struct Caption {
    /// The number of the plot on the page.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// What it shows, in a sentence.
    pub description: String,
}

/// How attributes' lines are told apart besides by their words.
const DASHES: [&str; 6] = ["", "7 4", "2 4", "10 3 2 3", "5 2", "1 3"];

fn svg(width: u32, height: u32, caption: &Caption, body: &str) -> String {
    let Caption { id, title, description } = caption;
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"t{id} d{id}\">\
         <title id=\"t{id}\">{}</title><desc id=\"d{id}\">{}</desc>{body}</svg>\n",
        escape(title),
        // A description holds labels, and labels may be of any length.
        escape(&clip(description, 2000))
    )
}

/// A bar a release: people, and artificial rows on top.
pub fn timeline(releases: &[ReleaseFacts], caption: &Caption) -> String {
    let (width, height, base) = (900u32, 190u32, 140.0);
    let most = releases.iter().map(|release| release.rows).max().unwrap_or(0).max(1) as f64;
    let step = f64::from(width) / releases.len().max(1) as f64;
    let bar = (step * 0.56).min(72.0);
    // Words stand below as many bars as leave room for them.
    let every = (100.0 / step).ceil().max(1.0) as usize;
    let mut body = format!("<line class=\"axis\" x1=\"0\" x2=\"{width}\" y1=\"{base}\" y2=\"{base}\"/>");
    for (at, release) in releases.iter().enumerate() {
        let middle = step * (at as f64 + 0.5);
        let left = middle - bar / 2.0;
        let people = release.people as f64 / most * 105.0;
        let added = release.counterfeits as f64 / most * 105.0;
        let _ = write!(
            body,
            "<rect class=\"bar\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{bar:.1}\" height=\"{people:.1}\" rx=\"2\"/>",
            base - people
        );
        if release.counterfeits > 0 {
            let _ = write!(
                body,
                "<rect class=\"hatch\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{bar:.1}\" height=\"{:.1}\"/>",
                base - people - added.max(2.0),
                added.max(2.0)
            );
        }
        if at % every == 0 || at + 1 == releases.len() && at % every > every / 2 {
            let top = base - people - added - 8.0;
            let _ = write!(
                body,
                "<text class=\"strong\" x=\"{middle:.1}\" y=\"{top:.1}\" text-anchor=\"middle\">{}</text>\
                 <text class=\"strong\" x=\"{middle:.1}\" y=\"160\" text-anchor=\"middle\">{}</text>\
                 <text x=\"{middle:.1}\" y=\"177\" text-anchor=\"middle\">{}</text>",
                number(release.people),
                escape(&clip(&release.label, 14)),
                escape(release.at.as_deref().map_or("", |at| at.split('T').next().unwrap_or(at))),
            );
        }
    }
    svg(width, height, caption, &body)
}

/// How many people bear which risk, with the promise's line.
pub fn risk(classes: &[u64], one_in: Option<u32>, caption: &Caption) -> String {
    let (width, height, base, left) = (240u32, 132u32, 104.0, 4.0);
    let whole = f64::from(width) - 2.0 * left;
    let most = classes.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = whole / classes.len().max(1) as f64;
    let mut body = String::new();
    for (at, &count) in classes.iter().enumerate().filter(|(_, count)| **count > 0) {
        let tall = (count as f64 / most * 84.0).max(1.5);
        // The class's lower end lies at or above the line: everyone in it bears more than was promised.
        let over = one_in.is_some_and(|one_in| at as u64 * u64::from(one_in) >= classes.len() as u64);
        let _ = write!(
            body,
            "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            if over { "over" } else { "bar" },
            left + step * at as f64 + 0.75,
            base - tall,
            step - 1.5
        );
    }
    let _ = write!(body, "<line class=\"axis\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{base}\" y2=\"{base}\"/>", left + whole);
    for (at, word) in [(0.0, "0"), (0.5, "1 in 2"), (1.0, "1")] {
        let anchor = if at == 0.0 {
            "start"
        } else if at == 1.0 {
            "end"
        } else {
            "middle"
        };
        let _ = write!(body, "<text x=\"{:.1}\" y=\"119\" text-anchor=\"{anchor}\">{word}</text>", left + whole * at);
    }
    if let Some(one_in) = one_in.filter(|&one_in| one_in > 0) {
        let at = left + whole / f64::from(one_in);
        let (anchor, shift) = if one_in == 1 { ("end", -4.0) } else { ("start", 4.0) };
        let _ = write!(
            body,
            "<line class=\"promise\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"4\" y2=\"{base}\"/>\
             <text class=\"promise-word\" x=\"{:.1}\" y=\"13\" text-anchor=\"{anchor}\">1 in {one_in}</text>",
            at + shift
        );
    }
    svg(width, height, caption, &body)
}

/// How many groups have how many people.
pub fn sizes(bars: &[Bar], least: Option<u32>, caption: &Caption) -> String {
    let (width, height, base) = (240u32, 132u32, 104.0);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1) as f64;
    let step = f64::from(width) / bars.len().max(6) as f64;
    let every = (34.0 / step).ceil().max(1.0) as usize;
    let mut body = String::new();
    for (at, bar) in bars.iter().enumerate() {
        let tall = if bar.count == 0 { 0.0 } else { (bar.count as f64 / most * 90.0).max(1.5) };
        let under = least.is_some_and(|least| bar.to < u64::from(least));
        let left = step * at as f64;
        let _ = write!(
            body,
            "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            if under { "over" } else { "bar" },
            left + step * 0.1,
            base - tall,
            step * 0.8
        );
        if at % every == 0 {
            let word = if bar.from == bar.to { bar.from.to_string() } else { format!("{}–{}", bar.from, bar.to) };
            let _ = write!(body, "<text x=\"{:.1}\" y=\"119\" text-anchor=\"middle\">{word}</text>", left + step / 2.0);
        }
    }
    let _ = write!(body, "<line class=\"axis\" x1=\"0\" x2=\"{width}\" y1=\"{base}\" y2=\"{base}\"/>");
    svg(width, height, caption, &body)
}

/// The precision of each attribute, release by release.
pub fn precision(releases: &[ReleaseFacts], attributes: usize, caption: &Caption) -> String {
    let (width, height, left, right, top, tall) = (900u32, 270u32, 44.0, 170.0, 14.0, 210.0);
    let across = f64::from(width) - left - right;
    let x = |at: usize| left + across * at as f64 / (releases.len() - 1).max(1) as f64;
    let y = |precision: f64| top + tall * (1.0 - precision.clamp(0.0, 1.0));
    let mut body = String::new();
    for (at, word) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
        let _ = write!(
            body,
            "<line class=\"axis\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{word}</text>",
            left + across,
            y(at),
            y(at),
            left - 8.0,
            y(at) + 4.0
        );
    }
    let every = (releases.len() as f64 * 74.0 / across).ceil().max(1.0) as usize;
    for (at, release) in releases.iter().enumerate().step_by(every) {
        let word = escape(&clip(&release.label, 12));
        let _ = write!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{word}</text>",
            x(at),
            top + tall + 20.0
        );
    }
    let Some(last) = releases.last() else { return svg(width, height, caption, &body) };
    // Words at the right end stand apart from each other, in the order of their lines.
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
    for (place, &attribute) in order.iter().enumerate() {
        let facts = |release: &ReleaseFacts| release.loss.attributes[attribute].precision;
        let points: Vec<String> =
            releases.iter().enumerate().map(|(at, release)| format!("{:.1},{:.1}", x(at), y(facts(release)))).collect();
        let dash = DASHES[attribute % DASHES.len()];
        let _ = write!(body, "<polyline class=\"line\" stroke-dasharray=\"{dash}\" points=\"{}\"/>", points.join(" "));
        if releases.len() <= 24 {
            for (at, release) in releases.iter().enumerate() {
                let _ =
                    write!(body, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>", x(at), y(facts(release)));
            }
        }
        let _ = write!(
            body,
            "<text class=\"strong\" x=\"{:.1}\" y=\"{:.1}\">{} {}</text>",
            left + across + 12.0,
            words[place] - below,
            escape(&clip(&last.loss.attributes[attribute].name, 16)),
            percent(facts(last))
        );
    }
    svg(width, height, caption, &body)
}

/// Shares from 0 to 1, one below the other: word, share, and what is written at the bar's end.
pub fn shares(rows: &[(String, f64, String)], caption: &Caption) -> String {
    let (width, left, tall) = (900u32, 190.0, 30u32);
    let across = f64::from(width) - left - 150.0;
    let mut body = String::new();
    for (at, (word, share, end)) in rows.iter().enumerate() {
        let top = f64::from(tall) * at as f64;
        let long = across * share.clamp(0.0, 1.0);
        let _ = write!(
            body,
            "<text class=\"strong\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"field\" x=\"{left}\" y=\"{:.1}\" width=\"{across:.1}\" height=\"14\" rx=\"3\"/>\
             <rect class=\"bar\" x=\"{left}\" y=\"{:.1}\" width=\"{long:.1}\" height=\"14\" rx=\"3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 12.0,
            top + 19.0,
            escape(&clip(word, 26)),
            top + 8.0,
            top + 8.0,
            left + across + 10.0,
            top + 19.0,
            escape(end)
        );
    }
    svg(width, (tall * rows.len() as u32).max(tall) + 4, caption, &body)
}

/// The regions of one release on two attributes.
pub fn regions(picture: &Picture, panel: &Panel, most: usize, caption: &Caption) -> String {
    let (size, left, top) = (240.0, 26.0, 4.0);
    let mut body =
        format!("<rect class=\"field\" x=\"{left}\" y=\"{top}\" width=\"{size}\" height=\"{size}\" rx=\"2\"/>");
    let step = panel.boxes.len().div_ceil(most).max(1);
    for &(from, to, bottom, upper, _) in panel.boxes.iter().step_by(step) {
        let scale = |thousandth: u32| f64::from(thousandth) * size / 1000.0;
        let _ = write!(
            body,
            "<rect class=\"region\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            left + scale(from),
            top + size - scale(upper),
            scale(to.saturating_sub(from)).max(1.0),
            scale(upper.saturating_sub(bottom)).max(1.0)
        );
    }
    let (low, high) = (escape(&clip(&picture.across_ends.0, 10)), escape(&clip(&picture.across_ends.1, 10)));
    let (bottom, upper) = (escape(&clip(&picture.up_ends.0, 10)), escape(&clip(&picture.up_ends.1, 10)));
    let (right, under) = (left + size, top + size + 15.0);
    let (middle, center) = (left + size / 2.0, top + size / 2.0);
    let _ = write!(
        body,
        "<text x=\"{left}\" y=\"{under}\">{low}</text><text x=\"{right}\" y=\"{under}\" text-anchor=\"end\">{high}</text>\
         <text class=\"strong\" x=\"{middle}\" y=\"{under}\" text-anchor=\"middle\">{}</text>\
         <g transform=\"rotate(-90)\"><text x=\"-{}\" y=\"18\">{bottom}</text>\
         <text x=\"-{top}\" y=\"18\" text-anchor=\"end\">{upper}</text>\
         <text class=\"strong\" x=\"-{center}\" y=\"18\" text-anchor=\"middle\">{}</text></g>",
        escape(&clip(&picture.across, 16)),
        top + size,
        escape(&clip(&picture.up, 16)),
    );
    svg(270, 264, caption, &body)
}
