//! What a person should know of a project, whatever is asked of it.
//!
//! A command that only looks answers from what is there, and that may be an old copy. A command that publishes goes on
//! where a person may believe more than is true: that the vault is encrypted, or that the series is signed.

use crate::ledger::{LedgerError, Store};
use crate::use_cases::{ProjectFolder, UseCaseError};

/// Says that the project is an earlier state of its series, as far as this machine and what stands in for a lost anchor know. What
/// was named to stand in must be there and be of this series, or nobody has looked.
pub fn set_back(project: &ProjectFolder) -> Result<Option<String>, UseCaseError> {
    let Some(anchors) = project.held_anchors()? else { return Ok(None) };
    let Ok(store) = Store::open_look(project.below(), &project.root) else { return Ok(None) };
    match store.compare_with(&anchors) {
        Ok(()) => Ok(None),
        Err(error @ LedgerError::BadReceipt { .. }) => Err(error.into()),
        Err(error) => Ok(Some(format!("{}: {error}", error.code()))),
    }
}

/// Says that nothing here remembers how far the series went. Whatever is written next is remembered, so nobody is told again.
pub fn unremembered(project: &ProjectFolder) -> Option<String> {
    let store = Store::open_look(project.below(), &project.root).ok()?;
    let is_unseen = !store.is_remembered(project.anchors.as_ref()?);
    (is_unseen && store.releases() > 0 && project.anchor_from.is_none()).then(|| {
        "nothing on this machine remembers this series: if later releases are out, a second one of the same number could be \
         compared with them; people who were erased since would come back; name a receipt or the newest release with \
         --anchor-from"
            .into()
    })
}

/// Says that people may come back who were erased, where a person goes on behind what stands in for a lost anchor: it names
/// nobody.
fn behind_stand_in(project: &ProjectFolder, store: &Store) -> Option<String> {
    project.anchor_from.as_ref().and(project.accept_rollback.as_ref())?;
    let anchors = project.held_anchors().ok()??;
    store.is_behind_stand_in(&anchors).then(|| {
        "this state is behind what --anchor-from names: who was erased after it is not known here; these people are \
         published again, unless they are erased again first, with tacenda erase, without --anchor-from"
            .into()
    })
}

/// Says that the user's own anchors lie in the project. Others are refused there.
fn anchors_inside(project: &ProjectFolder) -> Option<String> {
    project.anchors.as_ref()?.lie_in(&project.root).then(|| {
        "what remembers this series lies in the project itself: an earlier state of the whole folder would not be noticed; \
         name a folder elsewhere with --anchor"
            .into()
    })
}

/// What to know before the next release: one sentence each. A project that cannot be opened says so itself.
pub fn before_publishing(project: &ProjectFolder) -> Vec<String> {
    let Ok(store) = Store::open_look(project.below(), &project.root) else { return Vec::new() };
    let mut cautions: Vec<String> = unremembered(project).into_iter().collect();
    cautions.extend(behind_stand_in(project, &store));
    cautions.extend(anchors_inside(project));
    if store.has_plain_vault() {
        let why = "the vault is not encrypted: a person who can read this folder can read the table; tacenda vault lock \
                   encrypts it";
        cautions.push(why.into());
    }
    // A key that is damaged or open to others is told of by whoever wants to sign with it.
    let Ok(own) = project.keys.as_ref().map_or(Ok(None), |keys| keys.public()) else { return cautions };
    let last = store.last_signer().filter(|_| store.releases() > 0);
    let (own, last) = (own.as_ref().map(|key| key.id()), last);
    match (last, own) {
        (Some(last), None) => cautions.push(format!(
            "the series is signed with the key {last}, and there is no signing key here: nothing more is signed; name the folder of \
             the key with --keys"
        )),
        (Some(last), Some(own)) if last != own && !project.follows(last) => cautions.push(format!(
            "the series is signed with the key {last}, and the key here is {own}, which that key did not sign: recipients cannot \
             trust it; use the first key, or one that tacenda key rotate made from it"
        )),
        _ => {}
    }
    cautions
}
