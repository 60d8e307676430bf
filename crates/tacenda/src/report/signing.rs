//! What each signature confirms. Nobody signs for what they cannot know. The steward signs for the data, the expert for
//! the risk, the owner for purpose, cost and date.

use crate::report::words::{counted, number, people};
use crate::report::{Decision, GovernanceFacts, PrivateFacts, ReleaseFacts, SigningFacts, VerdictFacts};

/// The three signatures, each with its sentences.
pub fn signing(
    releases: &[ReleaseFacts],
    verdict: &VerdictFacts,
    assumptions: &[String],
    governance: Option<&GovernanceFacts>,
    private: Option<&PrivateFacts>,
) -> Vec<SigningFacts> {
    let files: usize = releases.iter().map(|release| release.files.len()).sum();
    let released = counted(releases.len() as u64, "release", "releases");
    let files = counted(files as u64, "file", "files");
    let role = |role: &str, confirms: Vec<String>| SigningFacts { role: role.into(), confirms };
    let mut expert = vec![format!("The verdict is {}: {}", verdict.decision.words(), verdict.sentence)];
    if verdict.decision == Decision::NotAssessed {
        expert.push("The questions that are NOT ASSESSED were examined by other means: (attach how).".into());
    }
    if verdict.decision == Decision::NotPromised {
        expert.push("What is NOT PROMISED is prevented by other means: (attach how).".into());
    }
    if !assumptions.is_empty() {
        let named = counted(assumptions.len() as u64, "assumption", "assumptions");
        expert.push(format!("The {named} above can be made for the recipients and the environment named here."));
    }
    expert.push(match verdict.decision {
        Decision::Fail => "The findings were read, and their consequences are decided: (attach which).".into(),
        _ => {
            "The risk that an anticipated recipient identifies someone, alone or with what they can reasonably get, is \
              very small."
                .into()
        }
    });
    let mut owner = vec!["Purpose, recipients, environment and controls are as filled in above.".to_string()];
    owner.push(cost(releases, private));
    if let Some(reason) = governance.and_then(|governance| governance.accepted_risk.as_ref()) {
        owner.push(format!("The risk that the policy file names is accepted, for the reason given there: {reason}"));
    }
    match governance.and_then(|governance| governance.review_by.as_ref()) {
        Some(date) => owner.push(format!("This is reviewed by {date}, or earlier where a trigger named above occurs.")),
        None => owner.push("A date for review is set: (date).".into()),
    }
    vec![
        role(
            "Prepared by",
            vec![
                format!(
                    "The {released} above, with the SHA-256 of {files}, are all that was published under this \
                         name."
                ),
                "Columns and their roles are right, and nobody has two identifiers.".into(),
            ],
        ),
        role("Expert or disclosure review board", expert),
        role("Data owner", owner),
    ]
}

/// What the last release cost, in one sentence.
fn cost(releases: &[ReleaseFacts], private: Option<&PrivateFacts>) -> String {
    let added: u64 = releases.last().map_or(0, |release| release.counterfeits);
    let mut parts = vec![counted(added, "artificial row", "artificial rows")];
    if let Some(private) = private {
        let last =
            private.truth.iter().rev().find(|truth| Some(truth.release) == releases.last().map(|last| last.number));
        if let Some(truth) = last {
            parts.push(format!("{} of {} withheld", people(truth.withheld), number(truth.people)));
        }
    }
    format!("The cost of the last release is accepted: {}.", parts.join(", "))
}
