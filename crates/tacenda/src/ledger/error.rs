//! What can be wrong with a project folder, and with the disk below it.

use crate::model::{coded, exit_of};
use std::io;
use std::path::{Path, PathBuf};

coded! {
    /// Why an operation on the ledger or the vault failed. It names files and lines, never their contents.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum LedgerError {
        #[error("no series in {} yet; tacenda init drafts a policy file, tacenda publish begins the series; -C names another folder", root.display())]
        NoProject {
            /// The folder.
            root: PathBuf,
        } = "L201", "no project here",
            "The folder has no .tacenda/ledger.jsonl with a first line. Either it is no project: run tacenda init, \
             or name the project folder with -C. Or it has a policy file and nothing is published yet: the first \
             tacenda plan or publish sets the ledger up.";
        #[error("a project in {} exists already; continue with it, or choose another folder", root.display())]
        Exists {
            /// The folder.
            root: PathBuf,
        } = "L202", "a project exists already",
            "A project folder holds one series and is set up once. Continue with it, or choose another folder for \
             another series.";
        #[error("the series name cannot name a folder; use letters, digits, dots, hyphens and underscores")]
        SeriesName = "L203", "series name is not a folder name",
            "Releases are kept in releases/<series>/, so the name may hold letters, digits, dots, hyphens and \
             underscores, and may not begin with a dot.";
        #[error("what was named with --anchor-from is no receipt of this series: {what}; print one with tacenda receipt")]
        BadReceipt {
            /// What is wrong with it.
            what: &'static str,
        } = "L204", "not a receipt of this series",
            "--anchor-from takes the file of a receipt that tacenda receipt wrote, or a release folder of the series. A \
             receipt may be typed in from paper: the lines series, commitment, lines, head, at, erased where it is there, \
             and check. A wrong digit is noticed. A receipt of another project is refused, also if its series has the same name.";
        #[error(
            "{} lies in the project: a state of the project that is put back would take the anchor back too; name a folder \
             outside of the project with --anchor",
            folder.display()
        )]
        AnchorInside {
            /// The folder of the anchors.
            folder: PathBuf,
        } = "L205", "the anchor lies in the project",
            "The anchor notices that a project was set back to an earlier state. In the project's folder it is set back \
             together with the project, and nothing is noticed. Move the folder elsewhere and name it with --anchor. Without \
             --anchor it is in the user's state folder.";
        #[error("{file} line {line} (from byte {offset}): {fault}; restore the file from a backup")]
        Line {
            /// The ledger, from the project folder.
            file: String,
            /// The line, from 1.
            line: u64,
            /// The byte it starts at, from 0.
            offset: u64,
            /// What is wrong with it.
            fault: &'static str,
        } = "L501", "a ledger line is damaged",
            "Every line of the ledger ends in the SHA-256 of its own bytes, and holds the SHA-256 of the line before. \
             This line does not match: a byte was changed, or lines were removed or swapped. A release that follows a \
             damaged history could break the promise to people in earlier releases, so nothing is published. Restore \
             the file from a backup.";
        #[error(
            "{file} ends after line {found}, but line {wanted} was committed (vault/head says so); restore the file from a backup"
        )]
        CutShort {
            /// The ledger, from the project folder.
            file: String,
            /// How many lines there are.
            found: u64,
            /// How many there were.
            wanted: u64,
        } = "L502", "the ledger was cut short",
            "The vault remembers how many lines were committed, and the ledger has fewer. If the missing releases are \
             not taken into account, the next one could give away the people in them. Restore the ledger from a \
             backup.";
        #[error("{file}: {fault}; restore the file from a backup")]
        Vault {
            /// The file, from the project folder.
            file: String,
            /// What is wrong with it.
            fault: &'static str,
        } = "L503", "a vault file is damaged",
            "The ledger holds a keyed digest of every file of the vault, and this file does not match its own. The \
             vault links a person's rows in different releases; nothing is published until it is intact. Restore the \
             file from a backup.";
        #[error("{file} is missing; restore it from a backup")]
        VaultMissing {
            /// The file, from the project folder.
            file: String,
        } = "L504", "a vault file is missing",
            "The ledger relies on a file of the vault that is not there. Restore it from a backup. The seed in \
             particular cannot be made again.";
        #[error(
            "{folder} is a release the ledger does not know; move it away if it was copied here, restore the ledger from a backup if not"
        )]
        UnknownRelease {
            /// The folder, from the project folder.
            folder: String,
        } = "L505", "a release the ledger does not know",
            "A folder under its final name counts as published, and the ledger has no line for it. Either it was \
             copied here, or the ledger lost its last lines. The next release would not be judged together with it, \
             so nothing is published.";
        #[error("{folder} was committed and is missing; restore it from a backup")]
        MissingRelease {
            /// The folder, from the project folder.
            folder: String,
        } = "L506", "a committed release is missing",
            "The ledger has a line for this release and its folder is gone. Restore it from a backup or from a \
             recipient.";
        #[error("{file} {fault}")]
        ReleaseFile {
            /// The file, from the project folder.
            file: String,
            /// What is wrong with it.
            fault: &'static str,
        } = "L507", "a published file was changed",
            "The ledger holds the SHA-256 of every published file. This one is changed, missing, or not one that was \
             published.";
        #[error("{file} line {line}: written by a later version of tacenda; use that version")]
        Newer {
            /// The ledger, from the project folder.
            file: String,
            /// The line, from 1.
            line: u64,
        } = "L508", "written by a later version",
            "The ledger has a line this version does not understand. Use the later version.";
        #[error("{file} is a symbolic link or no regular file; put the real file or folder in its place")]
        Link {
            /// The file, from the project folder.
            file: String,
        } = "L509", "a link in the project",
            "Tacenda writes into these folders and removes what a crash left there. A symbolic link may lead to other \
             files, and these could be lost. Reading from a pipe or a device may never end. Put the real file or \
             folder in its place. To keep releases on another disk, move the whole project there.";
        #[error("{file} can be {open}; run: {way_out}")]
        Loose {
            /// The file, from the project folder; of anchors, its whole path.
            file: String,
            /// What others can do, and who.
            open: &'static str,
            /// The command that closes it.
            way_out: String,
        } = "L510", "the project is open to others",
            "The vault links people to their rows. Anyone who can read it can re-identify everyone. Anyone who can \
             write it can change what is published. It was probably restored or copied without its permissions. Run \
             chmod -R go-rwx .tacenda/vault in the project folder, and ask who had access in the meantime. The ledger may \
             be read by others. What everybody may write, there or among the anchors, vouches for nothing: the message has \
             the chmod for it. Run tacenda verify afterwards.";
        #[error(
            "the ledger has {found} lines, and {wanted} were seen here before (the last of {at}): this folder was restored or \
             copied. Readers could compare a second release {next} with the first, and values of people could become certain. \
             Nothing was published; continue with the folder that has all lines"
        )]
        RolledBack {
            /// How many lines there are.
            found: u64,
            /// How many were seen.
            wanted: u64,
            /// When the last of them was written.
            at: String,
            /// The number that the next release would have.
            next: u32,
        } = "L511", "the project was set back to an earlier state",
            "A file outside the project records how far the ledger had come. This ledger ends before that, or has \
             other lines. The folder was restored from a backup, copied, or checked out from version control. A second \
             release with the same number can be compared with the first: in a test nine people's values became \
             certain. Continue with the folder that has all lines, or restore the newest backup. A release that comes out \
             as it was published then is accepted: publish the same tables again, in order. If nobody ever received the \
             releases after this point, publish with --accept-rollback \"reason\". The ledger keeps the reason. People who were \
             erased after this point are then erased again, as far as the anchor on this machine names them. A receipt or a \
             release names nobody: if one stands in for a lost anchor, erase these people again first, with tacenda erase. \
             Before the first release nobody can be erased: start a new series.";
        #[error("{} is damaged; compare the ledger with what recipients have, then remove the file", file.display())]
        BadAnchor {
            /// The file.
            file: PathBuf,
        } = "L512", "the anchor is damaged",
            "The file that records how far a series has come cannot be read. Compare tacenda log with the newest \
             release that recipients have. If the project has it, remove the damaged file: Tacenda writes it anew.";
        #[error(
            "release {release} is out, and this project does not have it (it has {found}): this folder was restored or copied. \
             Readers could compare a second release {release} with the first, and values of people could become certain. \
             Nothing was published; continue with the folder that has it"
        )]
        LacksRelease {
            /// The number of the release.
            release: u32,
            /// How many releases there are.
            found: u32,
        } = "L513", "the project lacks a release that is out",
            "A release was named with --anchor-from. This project never made it, or has another one with its number: it \
             was restored from a backup or copied, and the series went on elsewhere. A second release with the same \
             number can be compared with the first. Continue with the folder that has the release, or restore the newest \
             backup. If nobody ever received it, publish with --accept-rollback \"reason\". The release does not say who was \
             erased: erase again first who was erased after this state.";
        #[error("this is no backup of a project: {fault}; take another copy of it")]
        BadBackup {
            /// What is wrong with it.
            fault: &'static str,
        } = "L514", "not a backup of a project",
            "tacenda restore reads what tacenda backup wrote: an encrypted archive of the ledger, the vault and the releases. \
             This file is damaged, cut short or something else. Nothing was restored.";
        #[error(
            "the series {series} was published from this folder before (the last time on {at}), and its ledger is gone. Readers could \
             compare a second release 1 with the first. Nothing was published; restore the newest backup, or give the new series \
             another name"
        )]
        LedgerGone {
            /// The series' name.
            series: String,
            /// When its last line was written.
            at: String,
        } = "L515", "the ledger of a series is gone",
            "A file outside the project records that releases of this series were published from this folder. The ledger \
             and the vault are no longer there. A series that began again with release 1 could be compared with what is \
             out. Restore the newest backup into an empty folder. Or begin another series: give it another name under \
             [series] in the policy file, so that recipients can tell the two apart.";
        #[error(
            "people who were erased would come back: the receipt counts {wanted} of them, and this state {found}. Nothing was \
             published; erase them again with tacenda erase, without --anchor-from, then publish"
        )]
        Unerased {
            /// How many people were erased by the time of the receipt.
            wanted: u64,
            /// How many are erased here.
            found: u64,
        } = "L516", "people who were erased would come back",
            "The receipt says how many people were erased when it was made. This project was restored from a state before \
             that. A receipt names nobody, and the anchor that did is lost. So erase these people again: tacenda erase takes \
             their identifiers, without --anchor-from. Then publish as before. A person whom this state does not know cannot \
             be erased. Take that person out of your table, and name the newest release with --anchor-from in place of the \
             receipt.";
        #[error(
            "another series {series} was published from this folder (the last time on {at}), and the ledger here is not its own. \
             Readers could compare releases of one name and number. Nothing was published; restore the newest backup, or give the \
             series another name. If nobody received the others: tacenda publish --accept-rollback REASON"
        )]
        OtherLedger {
            /// The series' name.
            series: String,
            /// When the last line of the ledger was written that was here.
            at: String,
        } = "L517", "the ledger of another series",
            "A file outside the project records that a series of this name was published from this folder. The ledger there now \
             begins otherwise: it is of another series, which has the same name. Somebody may have exchanged it, or moved a \
             project here. If the series that was here is elsewhere and goes on, publish from there once. Otherwise restore its \
             newest backup into an empty folder, or give the new series another name.";
        #[error("another tacenda is writing to {}; wait for it to finish and run this again", root.display())]
        Locked {
            /// The project folder.
            root: PathBuf,
        } = "E701", "another writer holds the lock",
            "One tacenda at a time writes to a project. The lock goes away with the process that holds it, even if \
             it is killed.";
        #[error("no space left to write {}; nothing was published; free some space and run this again", path.display())]
        Full {
            /// What was being written.
            path: PathBuf,
        } = "E702", "no space left",
            "The disk or the quota is full. Unfinished files were removed; nothing was published.";
        #[error("cannot {action} {}: {source}", path.display())]
        Disk {
            /// What was tried.
            action: &'static str,
            /// On what.
            path: PathBuf,
            /// Why not.
            source: io::Error,
        } = "E703", "a file operation failed",
            "An operation on a file or folder failed. The message says which, and what the system answered.";
        #[error("an earlier write failed, so nothing more is written in this run; reopen the project, which tidies up")]
        Poisoned = "E704", "an earlier write failed",
            "After a failed write this run writes nothing more: what is on the disk is only known after opening the \
             project again.";
        #[error(
            "the ledger has line {seq}, so it counts, but its folder could not be put in place: {source}; reopen the project for writing, which finishes it"
        )]
        Unfinished {
            /// The line.
            seq: u64,
            /// What failed.
            source: Box<LedgerError>,
        } = "E705", "committed, but not finished",
            "The ledger line is written, so the release counts. Renaming its staged folder failed afterwards. Opening \
             the project for writing finishes the rename.";
        #[error(
            "the disk failed while line {seq} of the ledger was written, and again while it was removed: {source}; open the project for writing: that finishes the release or removes it"
        )]
        Uncertain {
            /// The line.
            seq: u64,
            /// What failed.
            source: Box<LedgerError>,
        } = "E706", "not known whether committed",
            "The disk failed while the ledger line was written, and again while the line was removed. It is not known \
             whether the line is there. Publish the same table under the same label again, as before. That first finishes the release or \
             removes every trace of it. A release that is there is not published twice.";
        #[error("another tacenda published while this was reading; run this again")]
        MovedOn = "E707", "the project changed meanwhile",
            "Readers take no lock. Another process published while this one was reading. Run the command again.";
        #[error("another tacenda wrote to this project at the same time; nothing was published; run this again")]
        Overtaken = "E708", "another writer was faster",
            "The lock was removed, or this file system keeps no locks, and a second tacenda wrote to the project. What \
             it wrote stays. This run published nothing. Run the command again. Never remove .tacenda/lock: the lock \
             goes away with the process that holds it. In object storage there are no locks: there the writer that \
             came last goes on, and the one before gets this error.";
    }
}

impl LedgerError {
    /// The exit code: 2 for wrong use, 5 for integrity, 7 for the environment.
    pub fn exit_code(&self) -> u8 {
        exit_of(self.code())
    }

    /// The error of a failed disk operation. Writers of staged files use it too.
    pub fn disk(action: &'static str, path: &Path, source: io::Error) -> LedgerError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LedgerError::Full { path: path.to_path_buf() },
            _ => LedgerError::Disk { action, path: path.to_path_buf(), source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_page_and_the_right_exit() {
        let errors = [
            LedgerError::NoProject { root: "x".into() },
            LedgerError::Exists { root: "x".into() },
            LedgerError::SeriesName,
            LedgerError::BadReceipt { what: "y" },
            LedgerError::AnchorInside { folder: "x".into() },
            LedgerError::Line { file: "x".into(), line: 1, offset: 0, fault: "y" },
            LedgerError::CutShort { file: "x".into(), found: 1, wanted: 2 },
            LedgerError::Vault { file: "x".into(), fault: "y" },
            LedgerError::VaultMissing { file: "x".into() },
            LedgerError::UnknownRelease { folder: "x".into() },
            LedgerError::MissingRelease { folder: "x".into() },
            LedgerError::ReleaseFile { file: "x".into(), fault: "y" },
            LedgerError::Newer { file: "x".into(), line: 1 },
            LedgerError::Link { file: "x".into() },
            LedgerError::Loose { file: "x".into(), open: "y", way_out: "z".into() },
            LedgerError::RolledBack { found: 1, wanted: 2, at: "y".into(), next: 2 },
            LedgerError::BadAnchor { file: "x".into() },
            LedgerError::LacksRelease { release: 2, found: 1 },
            LedgerError::BadBackup { fault: "y" },
            LedgerError::LedgerGone { series: "x".into(), at: "y".into() },
            LedgerError::Unerased { wanted: 2, found: 1 },
            LedgerError::OtherLedger { series: "x".into(), at: "y".into() },
            LedgerError::Locked { root: "x".into() },
            LedgerError::Full { path: "x".into() },
            LedgerError::Disk { action: "read", path: "x".into(), source: io::Error::other("y") },
            LedgerError::Poisoned,
            LedgerError::Unfinished { seq: 1, source: Box::new(LedgerError::Poisoned) },
            LedgerError::Uncertain { seq: 1, source: Box::new(LedgerError::Poisoned) },
            LedgerError::MovedOn,
            LedgerError::Overtaken,
        ];
        let codes: Vec<&str> = errors.iter().map(LedgerError::code).collect();
        assert_eq!(codes, LedgerError::PAGES.iter().map(|&(code, _, _)| code).collect::<Vec<_>>());
        for error in &errors {
            let wanted = match &error.code()[..2] {
                "L2" => 2,
                "L5" => 5,
                "E7" => 7,
                _ => unreachable!("no other kind"),
            };
            assert_eq!(error.exit_code(), wanted);
        }
    }
}
