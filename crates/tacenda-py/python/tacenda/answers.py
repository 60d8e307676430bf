"""The answers of Tacenda: one class for every type that the command prints with ``--format json``.

Made from ``docs/schema`` by ``crates/tacenda-py/answers``. An answer is a dict, and its fields are also attributes.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from tacenda._answer import Answer


class AdoptReport(Answer):
    """The answer of adopt."""

    notes: List[str]
    """What was concluded about the files, one sentence each."""
    releases: List[AdoptedRelease]
    """The releases that were adopted."""


class AdoptedRelease(Answer):
    """A release that was adopted."""

    ambiguous: int
    """How many people could be in more than one of its groups."""
    counterfeits: int
    """Its counterfeits."""
    erased: int
    """How many people of that table were erased from the series before. Nothing of them is kept."""
    exposed: int
    """How many people can no longer be hidden, and are withheld from every later release."""
    file: str
    """The file it was read from."""
    findings: List[str]
    """How it breaks the promise, one sentence each."""
    folder: Optional[str]
    """The folder that the file is kept in; none before a person has agreed."""
    groups: int
    """Its groups."""
    label: str
    """Its label."""
    people: Optional[int]
    """How many people were found in it; none if its private table was not given."""
    release: int
    """Its number in the series."""
    rows: int
    """Its rows, counterfeits included."""
    sha256: str
    """The SHA-256 of that file."""
    withheld: int
    """How many people of that table are not in it."""


class ApproveReport(Answer):
    """The answer of approve."""

    key: str
    """The id of the key that approves."""
    label: str
    """Its label."""
    plan: str
    """The plan file."""
    public_key: str
    """The public key, for `[signatures] approvers` of the policy file."""
    release: int
    """The release that is planned."""
    release_digest: str
    """A digest of the rehearsed release."""
    signature: str
    """The signature file beside it, as minisign writes it."""


class Attack(Answer):
    """What the attack finds after a number of releases."""

    below_four: int
    """People with fewer than four possible diagnoses left."""
    certain: int
    """People whose only possible diagnosis is right."""
    people: int
    """People published so far."""
    release: int
    """After this release."""


class AttributeError(Answer):
    """How far counts of one attribute are off."""

    median: float
    """The median error."""
    name: str
    """The column."""
    ninth_decile: float
    """Nine in ten counts are off by at most this."""


class AttributeFacts(Answer):
    """How precise an attribute is."""

    name: str
    """Its name."""
    precision: float
    """1 if every value is exact, 0 if every value is `*`."""


class BackupReport(Answer):
    """What backup and restore answer with."""

    backup: str
    """The backup."""
    behind: Optional[str]
    """Why nothing but what followed then may follow now: the series was seen to go further. Only after a restore."""
    lines: int
    """How many lines its ledger has."""
    releases: int
    """How many releases it has."""
    series: str
    """The series."""


class Bar(Answer):
    """One bar of a histogram."""

    count: int
    """How many."""
    from_: int
    """The lowest number in it."""
    to: int
    """The highest number in it."""


class BeforeFacts(Answer):
    """How exposed people would be by their exact quasi-identifiers."""

    highest_identity: float
    """The largest risk of being singled out."""
    mean_identity: float
    """The mean risk of being singled out."""
    people_below_k: int
    """People whose quasi-identifiers fewer than k people share."""
    smallest_group: int
    """The fewest people with the same quasi-identifiers."""
    unique: int
    """People whose quasi-identifiers nobody else has."""


class CheckFacts(Answer):
    """One question and its answer."""

    check: str
    """Its name."""
    findings: int
    """How many findings it has."""
    looked_at: int
    """How many were examined."""
    measures: List[MeasureFacts]
    """What was measured; for the auditor."""
    of: int
    """Of how many."""
    question: str
    """The question."""
    verdict: str
    """PASS, FAIL, MEASURED, NOT APPLICABLE or NOT ASSESSED."""
    what: str
    """What was counted."""
    why: Optional[str]
    """Why it does not apply, or could not be answered; or the theorem that answers for everyone."""


class CheckReport(Answer):
    """The answer of check."""

    also: List[str]
    """Further promises, one sentence each."""
    lasts_longest: Optional[str]
    """The parameter of them with which the limits of the policy file hold for the most releases, if they differ."""
    limits: List[str]
    """What the promise does not cover."""
    notes: List[str]
    """Remarks about the policy that are no faults."""
    promise: str
    """The promise, in one sentence."""
    series: str
    """The series' name."""
    summary: Optional[Summary]
    """The next release, if a table was given."""
    what_if: List[WhatIf]
    """The next release with other parameters."""


class ChoiceReport(Answer):
    """One way to keep a promise."""

    about: str
    """The readers against whom it holds."""
    choice: str
    """How groups are formed: `close`, `method`, `dealt` or `drawn`; for incremental-k-anonymity `cohorts`, `cells` or `tight`."""
    chosen: bool
    """Whether the policy file chooses it."""
    groups: Optional[int]
    """Groups."""
    loss: Optional[float]
    """Mean loss."""
    query_error: Optional[float]
    """Median relative error of random count queries."""
    refused: Optional[str]
    """Why it cannot be chosen, if it cannot."""
    setting: str
    """The setting in the policy file."""
    warnings: List[str]
    """Warnings about it, each with a code."""
    withheld: Optional[int]
    """People who are left out."""


class ChurnFacts(Answer):
    """Arrivals and departures at a release."""

    arrived: int
    """People never seen before."""
    last_published: int
    """People published here and not since."""
    release: int
    """The release's number."""
    waiting_since: int
    """People of the last snapshot who are not in the last release, and have waited since this one. People who left while they waited are not counted."""


class ColumnFacts(Answer):
    """A column."""

    name: str
    """Its name."""
    role: str
    """Its role: identifier, quasi, sensitive, public, drop."""
    technique: str
    """What was done to it."""
    values_: str
    """What values it has."""


class ComparedReport(Answer):
    """One line of the comparison."""

    classification_error: Optional[float]
    """The share of test rows whose class a decision tree predicts wrongly."""
    distortion_categories: float
    """Per row, how many levels its categories were lifted, summed over the columns."""
    distortion_numbers: float
    """Per row, the share of the domain that its numeric spans cover, summed over the columns."""
    information_kept: Optional[float]
    """The share of the columns' information about the target that is kept, column by column."""
    k: Optional[int]
    """The k of `k-anonymity`."""
    of: str
    """`view`, `as-it-is`, `k-anonymity` on all columns, or `without-join`: without the columns readers can join on."""


class ComparisonReport(Answer):
    """A view compared with what else could be published. Private: for the steward."""

    lines: List[ComparedReport]
    """The view first."""
    notes: List[str]
    """What was not measured."""
    target: Optional[str]
    """The column that is predicted, if the view has it."""
    test_rows: int
    """Rows that trees were tested on: every third one."""
    training_rows: int
    """Rows that trees were grown on: two of three in the order of the keyed identifiers."""


class CountErrors(Answer):
    """How far simple counts are off, as shares of the true answers. Medians."""

    attributes: List[AttributeError]
    """Counts of one attribute, one attribute at a time."""
    one: float
    """Counts of one attribute, all attributes together."""
    two: float
    """Counts of two attributes."""
    without_counts: Optional[List[Any]]
    """Both, as if no counts were published; only if some are."""


class CountReport(Answer):
    """The answer of count."""

    condition: str
    """The condition."""
    estimate: float
    """The expected number of people. People are spread within each region by the published counts, or evenly without them."""
    highest: int
    """No more people than this can meet the condition."""
    lowest: int
    """No fewer people than this can meet the condition."""
    notes: List[str]
    """What the asker should know, such as a value that no row has."""


class DeclaredFact(Answer):
    """A statement of the policy file that only people can make."""

    name: str
    """Its topic."""
    text: str
    """Its text; may be empty."""


class DeliverReport(Answer):
    """The answer of deliver."""

    deliveries: List[DeliveryReport]
    """What was done or failed, in order. Empty if nothing was owed."""
    series: str
    """The series' name."""


class DeliveryReport(Answer):
    """One release on its way to one place."""

    code: Optional[str]
    """The code of what failed."""
    message: Optional[str]
    """What failed."""
    outcome: str
    """What happened."""
    release: int
    """The release's number."""
    to: str
    """The place's name in the policy file."""


class DemoEntry(Answer):
    """A demo there is."""

    about: str
    """What happens to the table."""
    citation: str
    """The paper."""
    name: str
    """Its name: the promise that answers it."""


class DemoList(Answer):
    """What `demo --list` answers with."""

    demos: List[DemoEntry]
    """The demos."""


class DemoReport(Answer):
    """The answer of the demo."""

    naive: List[Attack]
    """What the attack finds in the naive series, after each release."""
    people: int
    """People in any snapshot."""
    project: str
    """The project folder that was left behind."""
    published: List[Attack]
    """What the same attack finds in the published series."""
    releases: List[Summary]
    """The releases of the published series."""


class DiffReport(Answer):
    """The answer of diff."""

    columns: List[str]
    """Columns whose declared values differ."""
    from_: DiffSide
    """The first release."""
    to: DiffSide
    """The second."""
    values_: List[DiffValue]
    """Per sensitive value, how many rows have it; the largest change first."""


class DiffSide(Answer):
    """A release in numbers."""

    counterfeits: int
    """Counterfeits: rows with nobody behind them."""
    groups: int
    """Groups."""
    label: str
    """Its label."""
    loss: float
    """The loss."""
    people: int
    """People."""
    release: int
    """Its number."""
    rows: int
    """Rows, counterfeits included."""
    smallest_group: int
    """The number of people in the smallest group."""
    withdrawn: Optional[str]
    """That it was withdrawn, and why, if the ledger says so."""


class DiffValue(Answer):
    """The rows of one sensitive value."""

    from_: int
    """Rows in the first release."""
    to: int
    """Rows in the second."""
    value: List[str]
    """The value, cell by cell."""


class DriftReport(Answer):
    """A maintained clustering compared with one from scratch. Losses are measured by `loss` of the policy file."""

    loss_from_scratch: float
    """Loss of clustering this table from scratch."""
    loss_kept: float
    """Loss with the clusters of the last release and the changes since."""
    loss_static: float
    """Loss when everything was last clustered from scratch: `static` in the rule."""
    ratio: Optional[float]
    """`loss_kept` over `loss_static`, which the rule compares; absent if `loss_static` is 0."""
    refresh_above: Optional[float]
    """The factor of the rule, if the policy file has one."""
    refreshes: bool
    """Whether this release is clustered from scratch."""


class EraseReport(Answer):
    """What erase and retain answer with."""

    already: int
    """How many had been forgotten before."""
    departures: str
    """What the next release does with people who are gone."""
    people: int
    """How many people were forgotten."""
    rows: int
    """How many of them were in the last table."""
    stays: List[str]
    """What cannot be erased, one sentence each. Empty if nobody was forgotten."""
    texts: int
    """How many texts of values left the vault."""
    unknown: int
    """How many identifiers this series does not know. Nobody was forgotten for these."""
    unknown_at: List[int]
    """Which these are, by their place among those that were given, from 1."""
    values_stay: int
    """How many of their values stay among those that are published, because value sets of other people hold them."""


class ErrorBody(Answer):
    """What went wrong."""

    code: str
    """A code with a page in `tacenda explain`."""
    exit: int
    """The exit code."""
    message: str
    """What is wrong."""
    problems: List[ProblemReport]
    """The single problems, where there are several."""


class ErrorReport(Answer):
    """What `--format json` prints on standard error."""

    error: ErrorBody
    """What went wrong."""


class ExplainReport(Answer):
    """The answer of explain."""

    code: str
    """The code."""
    explanation: str
    """What it means."""
    title: str
    """Its title."""


class FileFacts(Answer):
    """A file that was examined."""

    bytes: int
    """How long it is."""
    name: str
    """Its name."""
    sha256: str
    """Its SHA-256."""


class FindingFacts(Answer):
    """One way to learn too much."""

    check: str
    """The check that found it."""
    code: str
    """Its code, with a page in `tacenda explain`."""
    groups: int
    """How many groups."""
    number: int
    """Its place in the list, from 1, for `tacenda explain finding N`."""
    others: List[int]
    """The other releases that it needs."""
    people: int
    """How many people it concerns."""
    release: int
    """The release it was found in."""
    severity: str
    """note, warning or severe."""
    title: str
    """Its title."""
    witness: Optional[WitnessFacts]
    """What proves it; for the auditor."""


class ForecastRelease(Answer):
    """An expected release: the median and the largest values over the futures."""

    counterfeits: float
    """Counterfeits, as a share of the rows."""
    counterfeits_most: float
    """The most of them."""
    loss: float
    """The loss."""
    withheld: float
    """Withheld people, as a share of all."""
    withheld_most: float
    """The most of them."""


class ForecastReport(Answer):
    """What the next releases will need, if the table continues to change as it just did."""

    arrive: float
    """Arrivals each time, as a share of the people."""
    assumed: bool
    """Whether these shares were assumed, because there is one table only."""
    change: float
    """The share of people whose sensitive value changes each time."""
    ends: Optional[str]
    """Why the next release cannot be made, if it cannot."""
    helps: Optional[str]
    """Which change of a limit would allow all of them, if one is needed."""
    leave: float
    """The share of people who leave each time."""
    releases: List[ForecastRelease]
    """The releases, the next one first."""
    within: int
    """How many of them, from the first on, keep the limits of the policy file in the worst future."""
    within_most: int
    """The same in the best one."""


class GovernanceFacts(Answer):
    """How people who leave are treated, what the policy file allows, and until when the report holds."""

    accepted_risk: Optional[str]
    """Why a promise that holds per release only was accepted, if the policy file says so."""
    declared: List[DeclaredFact]
    """What only people know: why, for whom, under which conditions. A text is empty if the policy file does not say."""
    deletion: str
    """How people who leave the data are treated."""
    limits: List[str]
    """The limits of counterfeits and withheld people in the policy file."""
    review_by: Optional[str]
    """Until when the report is meant to hold."""
    review_triggers: List[str]
    """What ends its validity earlier."""


class IdentifyingFacts(Answer):
    """How identifying a quasi-identifier is."""

    column: str
    """The column."""
    fewest_alike: int
    """The fewest people who share one of these regions."""
    regions: int
    """How many different regions the last release has in it."""
    safe_harbor: Optional[str]
    """A hint, by kind and name, if HIPAA's safe harbor would not allow the column as it is."""
    values_: int
    """How many values it can have."""


class InitColumn(Answer):
    """What is proposed for a column."""

    because: str
    """Why."""
    distinct: Optional[int]
    """Distinct values; none if there are too many to count."""
    missing: int
    """Cells that are empty."""
    name: str
    """Its name."""
    open: bool
    """Whether it is left as a question, which check refuses until it is answered."""
    role: str
    """Its role."""
    samples: List[str]
    """Frequent values, each in at least five rows."""
    undecided: bool
    """Whether the role could not be recognised, so that the safe choice was taken."""


class InitReport(Answer):
    """The answer of init."""

    columns: List[InitColumn]
    """What is proposed for each column."""
    hierarchies: List[str]
    """Hierarchy files, relative to it."""
    is_usable: bool
    """Whether the draft can publish this table as it is. If not, the notes say what must be corrected first."""
    notes: List[str]
    """What was concluded about the input."""
    policy: str
    """The policy file."""
    rows: int
    """Rows of the table."""


class JournalistFacts(Answer):
    """How exposed people are to a reader who has a table of the population."""

    highest: float
    """One over that number."""
    least: int
    """The fewest people of the population who fit a group of any release (k-map)."""
    mean: float
    """The mean over everyone in all releases of one over the people of the population who fit the group."""


class KeyReport(Answer):
    """The answer of the key commands."""

    folder: str
    """The folder of keys."""
    follows: Optional[str]
    """The id of the key that signed this one."""
    has_passphrase: bool
    """Whether the secret key is encrypted with a passphrase."""
    key: str
    """The id of the key."""
    public_key: str
    """The public key. Give it to recipients separately from any release."""


class Learned(Answer):
    """What an attacker learns."""

    decision: str
    """The verdict."""
    findings: List[str]
    """The worst that was found, one sentence each."""
    story: Optional[StoryFacts]
    """A person whose value is certain, step by step."""


class LimitFacts(Answer):
    """The limits of the attacks' work. What exceeds them is NOT ASSESSED."""

    pairs_left_out: int
    """How many pairs of releases were not compared with each other."""
    seed: int
    """The seed of attacks that use randomness."""
    steps: int
    """The steps that each search may take."""


class LogEvent(Answer):
    """One event."""

    amended: List[str]
    """The values that columns gained since the release before, one sentence each."""
    approved_by: Optional[str]
    """The id of the key that approved the plan of a release."""
    at: str
    """When."""
    counterfeits: Optional[int]
    """Its counterfeits."""
    event: str
    """What: init, publish, adopt, deliver, erase, erratum, retract or rollback."""
    groups: Optional[int]
    """Its groups."""
    hash: str
    """The hash of the line."""
    label: Optional[str]
    """Its label."""
    model: Optional[str]
    """Its promise."""
    recipients: List[str]
    """Who got it."""
    release: Optional[int]
    """The release, for a publication."""
    rows: Optional[int]
    """Its rows, counterfeits included."""
    says: Optional[str]
    """The text of an erratum, a withdrawal or a delivery."""
    seq: int
    """Its number."""
    signed_by: Optional[str]
    """The id of the key that signed the line. `verify --key` checks the signature."""
    taken_in: List[LogView]
    """Views made elsewhere that were joined with it for the first time."""
    view: Optional[str]
    """The view it is of, for a policy with views."""


class LogReport(Answer):
    """The answer of log."""

    events: List[LogEvent]
    """All events, the oldest first."""
    head: str
    """The hash of the ledger's last line."""
    owed: List[OwedDelivery]
    """What databases of the project's policy file lack."""
    series: str
    """The series' name."""


class LogView(Answer):
    """A view made elsewhere."""

    name: str
    """Its name."""
    recipients: List[str]
    """Who has it."""


class LossFacts(Answer):
    """The information loss of a release, compared with its snapshot."""

    attributes: List[AttributeFacts]
    """Per quasi attribute."""
    c_avg: float
    """The mean group size, in multiples of the smallest allowed."""
    discernability: int
    """The sum of squared group sizes."""
    information_loss_per_person: float
    """The information loss of paper 001, per person."""
    leaf_share: float
    """The mean share of the domains that published values cover beyond one value, 0 to 1."""


class MeasureFacts(Answer):
    """One number."""

    name: str
    """What was measured."""
    release: Optional[int]
    """The number of the release; none for the whole series."""
    value: Optional[float]
    """The value; none if it is not a number."""


class NewReport(Answer):
    """The answer of new."""

    folders: List[str]
    """Their folders, for an audit of both series together."""
    kept_in: str
    """The folder that the old one is kept in, a project of its own."""
    new_series: str
    """The series that begins."""
    old_series: str
    """The series that was set aside."""
    releases: int
    """How many of its releases are published."""


class OwedDelivery(Answer):
    """What a place lacks, by the ledger and the policy file."""

    release: int
    """The release's number."""
    to: str
    """The place's name in the policy file."""
    withdrawal: bool
    """Whether the place has the release, and must be told that it is withdrawn."""


class Panel(Answer):
    """The regions of one release."""

    boxes: List[List[Any]]
    """Regions in thousandths of the domain: left, right, bottom, top, people."""
    groups: int
    """How many groups the release has."""
    label: str
    """The release's label."""


class Picture(Answer):
    """The regions of the releases on two attributes."""

    across: str
    """The attribute from left to right."""
    across_ends: List[Any]
    """The ends of the attribute from left to right."""
    left_off: int
    """How many releases have no panel."""
    panels: List[Panel]
    """One per release."""
    up: str
    """The attribute from bottom to top."""
    up_ends: List[Any]
    """The ends of the attribute from bottom to top."""


class Plan(Answer):
    """A plan file. It records what the rehearsal was made from, so that publishing it makes the same bytes."""

    data: str
    """What the table is called: the name of its file, or of a table in a database or in memory. The vault keeps the table."""
    delta: bool
    """Whether it holds changes."""
    input: str
    """The digest of the table that the ledger will have. It is keyed, so it reveals nothing."""
    kept: Dict[str, str]
    """The files of the vault that keep the table, with their keyed digests. So exactly the rehearsed table is published, even if the file changes."""
    label: str
    """Its label."""
    ledger_head: str
    """The hash of the ledger's last line, deliveries left aside."""
    notes: List[str]
    """What was concluded about the table. The kept table does not say it."""
    policy_sha256: str
    """The SHA-256 of the policy file and its hierarchies."""
    release: int
    """The release's number."""
    release_digest: str
    """A digest of the rehearsed release."""
    source: str
    """The digest of the table's bytes that the ledger will have. It is keyed, so it reveals nothing."""
    tacenda_plan: int
    """The version of this file."""
    view: Optional[str]
    """The view it is of, for a policy with views."""


class PlanReport(Answer):
    """The answer of plan."""

    choices: List[ChoiceReport]
    """What each way of keeping the promise costs; empty if there is only one."""
    comparison: Optional[ComparisonReport]
    """A view compared with what else could be published; only for promises about views."""
    drift: Optional[DriftReport]
    """How far a maintained clustering has drifted; only for k-anonymity, from the second release on."""
    forecast: Optional[ForecastReport]
    """What the next releases will need, if the table continues to change as it just did. Not for promises about views, nor for very large tables."""
    plan: str
    """The plan file."""
    summary: Summary
    """The rehearsed release."""


class PrivateFacts(Answer):
    """Numbers from the vault and the private tables."""

    churn: List[ChurnFacts]
    """Per release, arrivals, departures and people who wait; from the vault."""
    truth: List[TruthFacts]
    """Per release with an available private table, a comparison of the two."""


class ProblemReport(Answer):
    """One problem with a table, a policy file or a release."""

    code: str
    """Its code."""
    column: Optional[str]
    """The column, where it is about one."""
    count: Optional[int]
    """How many rows or people it concerns, where they are counted."""
    lines: List[int]
    """The first lines or rows it stands in."""
    message: str
    """What is wrong."""
    way_out: Optional[str]
    """What to do."""


class PromiseFacts(Answer):
    """What was promised."""

    in_short: str
    """The promise in one short sentence."""
    limits: List[str]
    """What it does not cover."""
    model: str
    """Its name in the policy file."""
    one_in: Optional[int]
    """The largest risk it allows, as one in this many; none if it names no bound."""
    parameters: List[str]
    """Its parameters, such as `m = 4`."""
    sentence: str
    """The promise in full, with the attacker."""


class PromiseRow(Answer):
    """One promise."""

    line: str
    """What it is for."""
    model: str
    """Its name in the policy file."""
    paper: str
    """The paper it comes from."""
    parameters: str
    """Its parameters."""


class PromisesReport(Answer):
    """What promises answers with."""

    promises: List[PromiseRow]
    """The promises."""


class Provenance(Answer):
    """What the report was made from and with."""

    attacker: List[str]
    """What the attacker knows."""
    command: Optional[str]
    """The command that made it, if there is one."""
    k: int
    """The least number of people who must not be distinguished."""
    l: int
    """The least number of values that must remain possible."""
    ledger_head: Optional[str]
    """The hash of the ledger's last line."""
    limits: Optional[LimitFacts]
    """The limits of the attacks' work; for the auditor."""
    made_at: Optional[str]
    """When the report was made, if that is included."""
    notes: List[str]
    """Notes about how the input was read."""
    policy_sha256: Optional[str]
    """The SHA-256 of the policy file and its hierarchies."""
    seed_commitment: Optional[str]
    """A hash of the seed. It can prove later that the seed was not changed, and reveals nothing."""
    software: str
    """The program and its version."""
    t: Optional[float]
    """The largest distance of a group's values from the table's."""


class PublishReport(Answer):
    """The answer of publish."""

    already: bool
    """Whether it was published before, so that nothing was done."""
    approved_by: Optional[str]
    """The id of the key that approved its plan."""
    backup: Optional[str]
    """The backup of the state before it, if one was written."""
    deliveries: List[DeliveryReport]
    """What was delivered to databases, and what not. The release is published in any case."""
    files: List[str]
    """Its files."""
    folder: str
    """The release folder."""
    label: str
    """Its label."""
    release: int
    """Its number."""
    signed_by: Optional[str]
    """The id of the key that signed it."""
    summary: Optional[Summary]
    """The release in numbers, if it is new."""


class QueryErrorFacts(Answer):
    """How far count queries are from the truth."""

    mean: float
    """The mean of it."""
    median: float
    """The median of |actual − estimate| / actual."""
    ninth_decile: float
    """Nine in ten queries are off by at most this."""
    queries: int
    """How many queries were asked."""
    selectivity: float
    """The expected share of rows that fit."""


class QuestionFacts(Answer):
    """One of the three questions of WP216."""

    decision: str
    """The answer."""
    evidence: List[str]
    """What was measured."""
    limit: str
    """The limits of the answer."""
    name: str
    """singling out, linkability, inference."""
    possible: Optional[str]
    """What is possible although no promise covers it; part of a sentence."""
    question: str
    """The question in plain words."""


class ReceiptReport(Answer):
    """What the receipt answers with."""

    at: str
    """When the last line was written."""
    commitment: str
    """What the first ledger line says of the seed."""
    head: str
    """The hash of the last line."""
    lines: int
    """How many lines the ledger has."""
    receipt: List[str]
    """The receipt itself: what `--anchor-from` reads back."""
    releases: List[ReceiptedRelease]
    """The releases, the oldest first."""
    series: str
    """The series' name."""


class ReceiptedRelease(Answer):
    """A release on a receipt."""

    at: str
    """When it was published."""
    digests: Dict[str, str]
    """The SHA-256 of its manifest and of its list of checksums; of one made elsewhere, of all files."""
    label: str
    """Its label."""
    release: int
    """Its number."""
    withdrawn: bool
    """Whether it was withdrawn."""


class ReleaseFacts(Answer):
    """One release, as anyone can count it."""

    at: Optional[str]
    """When it was published, if that is known."""
    counterfeits: int
    """Counterfeits: rows with nobody behind them."""
    data: Optional[str]
    """The path of its data file: as given, or relative to the project folder."""
    files: List[FileFacts]
    """Its files."""
    group_sizes: List[Bar]
    """How many groups have how many people."""
    groups: int
    """Groups."""
    label: str
    """Its label."""
    loss: LossFacts
    """The information loss, compared with its snapshot."""
    number: int
    """Its number."""
    people: int
    """People."""
    risk: RiskFacts
    """How exposed people are in this release alone."""
    risk_classes: List[int]
    """Twenty classes of risk, each 0.05 wide, its upper end included: how many people are in each."""
    rows: int
    """Rows, counterfeits included."""


class Report(Answer):
    """A whole report."""

    assumptions: List[str]
    """What the answers depend on."""
    checks: List[CheckFacts]
    """Each question that was asked, with its answer."""
    edition: str
    """Whom it is for."""
    findings: List[FindingFacts]
    """What was found, the worst first."""
    format: int
    """The version of this form."""
    governance: Optional[GovernanceFacts]
    """How people who leave are treated, and until when this holds; not for recipients."""
    identifying: List[IdentifyingFacts]
    """What makes each quasi column identifying; for the steward."""
    next_steps: List[str]
    """What to do next; not for recipients."""
    not_covered: List[str]
    """What they do not cover."""
    picture: Optional[Picture]
    """The regions on two attributes, for a picture."""
    private: Optional[PrivateFacts]
    """Numbers from the vault and the private tables; for the steward, and for an auditor who supplied the tables."""
    provenance: Provenance
    """What it was made from and with."""
    releases: List[ReleaseFacts]
    """Each release."""
    reproduce: List[str]
    """How this can be repeated; for the auditor."""
    sequence: SequenceFacts
    """All releases together."""
    series: SeriesFacts
    """What was looked at."""
    signing: List[SigningFacts]
    """Who signs what; for the steward."""
    story: Optional[StoryFacts]
    """The worst case, step by step: a person whose value was found, or who is closest to a threshold. Not for recipients."""
    three_questions: List[QuestionFacts]
    """Singling out, linkability, inference (Article 29 Working Party, opinion 05/2014)."""
    verdict: VerdictFacts
    """The result."""


class RetractReport(Answer):
    """The answer of retract."""

    already: bool
    """Whether it was already withdrawn, so that nothing was done."""
    deliveries: List[DeliveryReport]
    """What databases were told, and what not. The release is withdrawn in any case."""
    label: str
    """Its label."""
    release: int
    """The release."""


class RiskFacts(Answer):
    """How exposed people are in one release alone."""

    fewest_values: int
    """The fewest sensitive values in a group."""
    highest_identity: float
    """The largest risk of being singled out: one over the smallest group (prosecutor risk)."""
    highest_share: float
    """The largest share of one value in a group."""
    mean_identity: float
    """The mean risk of being singled out: groups over people. It is also the marketer risk: the expected share of correct matches, if an attacker knows exactly these people and matches all of them at once."""
    people_below_k: int
    """People in groups of fewer than k."""
    people_below_l: int
    """People in groups of fewer than l values."""
    smallest_group: int
    """People of the smallest group."""
    without_suppressed: SuppressedFacts
    """The same without suppressed rows, as ARX counts."""


class SequenceFacts(Answer):
    """How exposed people are by all releases together."""

    appearances: int
    """People over all releases; each person counts once for every release they are in."""
    highest_identity: float
    """The largest risk of being singled out in any release (prosecutor risk). Comparing releases can only raise it."""
    highest_share: float
    """The largest share of one value in a group of any release."""
    journalist: Optional[JournalistFacts]
    """The same for a reader who has a table of the population, and does not know who is in the release; none without it."""
    largest_posterior: Optional[float]
    """The largest probability of a value for a person, counting all worlds the promise allows, over all releases."""
    largest_posterior_blind: Optional[float]
    """The same, counting all worlds the releases allow."""
    least_alike: Optional[int]
    """The fewest published ids whose regions over all releases are the same (E)."""
    least_always_together: Optional[int]
    """The fewest published ids that were always in the same groups (H)."""
    mean_identity: float
    """Groups over people, all releases together: mean prosecutor risk, and marketer risk."""
    not_computed: List[str]
    """What could not be computed, and why."""
    posterior_of: List[Any]
    """For how many people the probabilities were counted, and of how many."""
    share_below_k: float
    """The share of appearances in groups of fewer than k."""
    smallest_candidates: Optional[int]
    """The fewest values that remain possible for a person after comparing all releases."""


class SeriesFacts(Answer):
    """What was examined."""

    columns: List[ColumnFacts]
    """The columns and their roles."""
    contact: str
    """Whom to ask."""
    name: str
    """The short name, or the files' common one."""
    promise: Optional[PromiseFacts]
    """What was promised, if that is known."""
    risk: str
    """Which risk is divided into classes: the one that the promise is about."""
    title: str
    """The title for people."""


class ShowReport(Answer):
    """The answer of show."""

    alone: Optional[str]
    """The sentence about people who are alone in a group with counterfeits; absent if nobody is."""
    counterfeits: int
    """Counterfeits: rows with nobody behind them."""
    folder: str
    """The release folder."""
    groups: int
    """Groups."""
    label: str
    """Its label."""
    limits: List[str]
    """What the promise does not cover."""
    loss: Any
    """Loss measures; docs/formats.md defines them."""
    not_kept: List[str]
    """That releases of its series were made elsewhere and do not keep the promise, one sentence each, if the ledger says so."""
    owed: List[OwedDelivery]
    """To which databases of the project's policy file it is owed."""
    promise: str
    """The promise in full."""
    promise_in_short: str
    """The promise in one short sentence."""
    release: int
    """The release's number."""
    rows: int
    """Rows, counterfeits included."""
    series: str
    """The series' name."""
    smallest_group: int
    """The number of people in the smallest group."""
    view: Optional[str]
    """The view it is of, for a policy with views."""
    withdrawn: Optional[str]
    """That it was withdrawn, and why, if the ledger says so."""


class ShownRelease(Answer):
    """A release, as a reader sees it."""

    counterfeits: int
    """How many artificial rows it has."""
    label: str
    """Its label."""
    rows: List[List[str]]
    """The header and the rows."""
    withheld: int
    """How many people are left out of it."""


class SigningFacts(Answer):
    """What one signature confirms."""

    confirms: List[str]
    """What they confirm, one sentence each."""
    role: str
    """Who signs."""


class SituationReport(Answer):
    """The answer of a demo in small."""

    about: str
    """What happens to the table."""
    citation: str
    """The paper."""
    command: str
    """The command that attacks the naive files, in that folder."""
    instead: str
    """What Tacenda does instead."""
    learned: Learned
    """What an attacker learns from all of them."""
    learned_then: Learned
    """What the same attacker learns from that, and the verdict of the report on it."""
    naive: List[ShownRelease]
    """Its files."""
    naively: str
    """What a naive publisher does."""
    name: str
    """The promise that answers it."""
    project: str
    """The folder that was left behind."""
    published: List[ShownRelease]
    """What was published."""
    refused: Optional[str]
    """How the second table is refused under the paper's own promise, where that covers one release."""
    report_command: str
    """The command that writes the report on what was published, in that folder."""


class StepFacts(Answer):
    """What one release says about the person."""

    found: List[str]
    """The values of these groups, coded unless they are shown."""
    group_count: int
    """How many groups the person may be in."""
    groups: List[StepGroup]
    """The first groups they may be in."""
    label: str
    """The release's label."""
    left: List[str]
    """The values left after this step."""
    release: int
    """The release's number."""
    restarted: bool
    """Whether this step contradicted the ones before, so that the attacker started again."""


class StepGroup(Answer):
    """A group the person may be in."""

    group: int
    """Its place in the release, counted from 1."""
    region: List[str]
    """Its region as printed."""
    rows: int
    """How many rows it has."""
    values_: List[str]
    """Its values, each once."""


class StoryFacts(Answer):
    """One person, attacked step by step; if people are not known, anyone in a place."""

    coded: bool
    """Whether values have codes, such as D1, in place of their names."""
    finding: Optional[int]
    """The number of the finding that it illustrates; none if nobody's value was found."""
    known: List[List[Any]]
    """What the attacker knew: name and value. A person's values are included only if values are shown."""
    left: int
    """How many values are left at the end."""
    matched: Optional[List[str]]
    """The values left after matching everyone with a row at once, if these are fewer than after the last step."""
    of_place: bool
    """Whether it is about a place instead of a person."""
    provided: Optional[str]
    """The assumption it depends on, if there is one."""
    steps: List[StepFacts]
    """One step per release."""


class Summary(Answer):
    """A rehearsed or published release in numbers. Private: for the steward."""

    arrived: int
    """People never seen before."""
    count_errors: Optional[CountErrors]
    """Median relative errors of simple counts, against the snapshot."""
    counterfeits: int
    """Counterfeits: rows with nobody behind them."""
    findings: List[str]
    """What a study mode breaks on made-up data."""
    groups: int
    """Groups."""
    label: str
    """Its label."""
    left: int
    """People who are gone."""
    loss: Any
    """Loss measures; docs/formats.md defines them."""
    needs_reason: bool
    """Whether the policy file must give a reason before this can be published."""
    not_kept: List[str]
    """How earlier releases that were made elsewhere break it, one sentence each. Then the series does not keep it."""
    notes: List[str]
    """What was concluded about the input, and warnings with a code."""
    people: int
    """People in the snapshot."""
    promise: str
    """The promise, in one sentence."""
    promise_in_short: str
    """The same in short, without the reader."""
    published: int
    """People who are published."""
    quasi_changed: int
    """People whose quasi values changed."""
    query_error: Optional[float]
    """Median relative error of random count queries, against the snapshot."""
    release: int
    """The release's number."""
    returned: int
    """People who are back."""
    sensitive_changed: int
    """People whose sensitive value changed."""
    series: str
    """The series' name."""
    series_risk: Optional[str]
    """What comparing with the earlier releases reveals, for a promise that holds per release only."""
    taken_out: int
    """Those of them who were published before. If records are only added, they are withheld for good."""
    value_sets: int
    """Distinct value sets among the groups of the whole series."""
    view: Optional[ViewSummary]
    """The view it is of, for a policy with views."""
    waiting: int
    """Those of them who were never published and wait."""
    withheld: int
    """People who are left out of this release."""


class SuppressedFacts(Answer):
    """The risks of people whose rows are not suppressed."""

    highest_identity: float
    """One over the smallest other group: the prosecutor risk, and without a population also the journalist risk."""
    mean_identity: float
    """Other groups over the people in them: marketer risk."""
    smallest_group: int
    """People of the smallest other group."""
    suppressed: int
    """Rows in which every quasi-identifier may be any value."""


class TruthFacts(Answer):
    """A release compared with its private table."""

    before: BeforeFacts
    """How exposed they would be if the table had been published as it is."""
    count_errors: Optional[CountErrors]
    """How far simple counts are off."""
    people: int
    """People of the table."""
    query_error: Optional[QueryErrorFacts]
    """How far count queries on the release are off; none if it has no sensitive column."""
    release: int
    """The release's number."""
    withheld: int
    """People of the table who were left out of the release."""


class VaultReport(Answer):
    """What the vault commands answer with."""

    encrypted: Optional[bool]
    """Whether the vault is encrypted now; absent where no project was asked about."""
    files: int
    """How many files were written anew."""
    has_passphrase: bool
    """Whether the key is encrypted with a passphrase."""
    keys_: str
    """The folder with the key."""
    new_key: bool
    """Whether the key was made just now."""
    recovery_is_here: bool
    """Whether the recovery key still lies beside it. It belongs elsewhere."""


class VerdictFacts(Answer):
    """The result."""

    decision: str
    """The decision."""
    people: int
    """How many people the widest finding concerns."""
    sentence: str
    """The same in a sentence."""
    worst: Optional[str]
    """The worst severity: note, warning, severe."""


class VerifyFault(Answer):
    """One thing that is wrong."""

    code: str
    """Its code."""
    message: str
    """What and where."""


class VerifyReport(Answer):
    """The answer of verify."""

    faults: List[VerifyFault]
    """What is wrong, one sentence each."""
    ledger: bool
    """Whether they were compared with a ledger. Otherwise, and without a key, a release only fits its own checksums, and anybody can make one that does."""
    not_checked: List[str]
    """What of the project was not checked, and why, one sentence each. Whether that is whole is not known."""
    releases: int
    """How many releases were checked."""
    signed: bool
    """Whether something is signed."""
    signed_by: List[str]
    """The ids of the keys whose signatures were checked and are valid. Empty if no key was named."""
    unfinished: bool
    """Whether the only fault is a publish that was committed but not finished. The next publish finishes it."""
    vault: bool
    """Whether the vault was there to be checked."""
    whole: bool
    """Whether no fault was found. `ledger` and `signed_by` tell what vouches for that, and `not_checked` what was left out."""


class ViewSummary(Answer):
    """Results about a view, besides its release."""

    also: List[str]
    """Further promises, one sentence each."""
    columns: List[str]
    """Its columns, in the order of `information_kept`."""
    distortion_categories: float
    """Per row, how many levels its categories were lifted, summed over the columns."""
    distortion_numbers: float
    """Per row, the share of the domain that its numeric spans cover, summed over the columns."""
    information_kept: List[Optional[float]]
    """Per column, the share of its information about the target that is kept; null if it had none."""
    name: str
    """Its name."""
    notes: List[str]
    """What was found and what was not examined."""
    recipients: List[str]
    """Who gets it."""
    steps_back: int
    """Specialisations that were taken back because the finished view did not pass the audit."""
    target: Optional[str]
    """The column that the published detail should predict."""


class WhatIf(Answer):
    """The next release with another parameter."""

    best: Optional[str]
    """Which of them is best for this table, or a note that none is."""
    counterfeits: int
    """Counterfeits: rows with nobody behind them."""
    forecast: Optional[ForecastReport]
    """What the next releases will need; none if that cannot be predicted."""
    groups: int
    """Groups."""
    loss: float
    """Mean loss."""
    parameter: str
    """The parameter, such as `m = 4`."""
    refused: Optional[str]
    """Why it cannot be met, if it cannot."""
    ways: List[ChoiceReport]
    """What each way of keeping the promise costs; empty if there is only one."""
    withheld: int
    """People who are left out."""


class WitnessFacts(Answer):
    """What proves a finding."""

    attribute: Optional[str]
    """The quasi attribute it is about."""
    claim: str
    """What is claimed, and how to check it."""
    groups: List[WitnessGroup]
    """The groups that prove it."""
    line: int
    """The threshold it is compared with."""
    number: int
    """The number that is claimed."""
    person: Optional[str]
    """The person it is about, under a pseudonym of this audit. Without the tables nobody can resolve it."""
    values_: List[str]
    """The sensitive values it names, coded unless they are shown."""


class WitnessGroup(Answer):
    """A group that a witness names."""

    group: str
    """The group as the file names it, or its place in the release, counted from 1."""
    holds: List[List[Any]]
    """Each sensitive value of its rows, coded unless they are shown, with its number of rows; the first 40."""
    label: str
    """The release's label."""
    region: List[str]
    """Its region as printed, one text per quasi attribute."""
    release: int
    """The release's number."""
    row_count: int
    """How many rows it has in all."""
    rows: List[int]
    """Its rows in the file, counted from 1 below the heading; the first 200."""

AdoptReport._parts = {"releases": AdoptedRelease}
CheckFacts._parts = {"measures": MeasureFacts}
CheckReport._parts = {"summary": Summary, "what_if": WhatIf}
ComparisonReport._parts = {"lines": ComparedReport}
CountErrors._parts = {"attributes": AttributeError}
DeliverReport._parts = {"deliveries": DeliveryReport}
DemoList._parts = {"demos": DemoEntry}
DemoReport._parts = {"naive": Attack, "published": Attack, "releases": Summary}
DiffReport._parts = {"from": DiffSide, "to": DiffSide, "values": DiffValue}
ErrorBody._parts = {"problems": ProblemReport}
ErrorReport._parts = {"error": ErrorBody}
FindingFacts._parts = {"witness": WitnessFacts}
ForecastReport._parts = {"releases": ForecastRelease}
GovernanceFacts._parts = {"declared": DeclaredFact}
InitReport._parts = {"columns": InitColumn}
Learned._parts = {"story": StoryFacts}
LogEvent._parts = {"taken_in": LogView}
LogReport._parts = {"events": LogEvent, "owed": OwedDelivery}
LossFacts._parts = {"attributes": AttributeFacts}
Picture._parts = {"panels": Panel}
PlanReport._parts = {"choices": ChoiceReport, "comparison": ComparisonReport, "drift": DriftReport, "forecast": ForecastReport, "summary": Summary}
PrivateFacts._parts = {"churn": ChurnFacts, "truth": TruthFacts}
PromisesReport._parts = {"promises": PromiseRow}
Provenance._parts = {"limits": LimitFacts}
PublishReport._parts = {"deliveries": DeliveryReport, "summary": Summary}
ReceiptReport._parts = {"releases": ReceiptedRelease}
ReleaseFacts._parts = {"files": FileFacts, "group_sizes": Bar, "loss": LossFacts, "risk": RiskFacts}
Report._parts = {"checks": CheckFacts, "findings": FindingFacts, "governance": GovernanceFacts, "identifying": IdentifyingFacts, "picture": Picture, "private": PrivateFacts, "provenance": Provenance, "releases": ReleaseFacts, "sequence": SequenceFacts, "series": SeriesFacts, "signing": SigningFacts, "story": StoryFacts, "three_questions": QuestionFacts, "verdict": VerdictFacts}
RetractReport._parts = {"deliveries": DeliveryReport}
RiskFacts._parts = {"without_suppressed": SuppressedFacts}
SequenceFacts._parts = {"journalist": JournalistFacts}
SeriesFacts._parts = {"columns": ColumnFacts, "promise": PromiseFacts}
ShowReport._parts = {"owed": OwedDelivery}
SituationReport._parts = {"learned": Learned, "learned_then": Learned, "naive": ShownRelease, "published": ShownRelease}
StepFacts._parts = {"groups": StepGroup}
StoryFacts._parts = {"steps": StepFacts}
Summary._parts = {"count_errors": CountErrors, "view": ViewSummary}
TruthFacts._parts = {"before": BeforeFacts, "count_errors": CountErrors, "query_error": QueryErrorFacts}
VerifyReport._parts = {"faults": VerifyFault}
WhatIf._parts = {"forecast": ForecastReport, "ways": ChoiceReport}
WitnessFacts._parts = {"groups": WitnessGroup}

__all__ = [
    "Answer",
    "AdoptReport",
    "AdoptedRelease",
    "ApproveReport",
    "Attack",
    "AttributeError",
    "AttributeFacts",
    "BackupReport",
    "Bar",
    "BeforeFacts",
    "CheckFacts",
    "CheckReport",
    "ChoiceReport",
    "ChurnFacts",
    "ColumnFacts",
    "ComparedReport",
    "ComparisonReport",
    "CountErrors",
    "CountReport",
    "DeclaredFact",
    "DeliverReport",
    "DeliveryReport",
    "DemoEntry",
    "DemoList",
    "DemoReport",
    "DiffReport",
    "DiffSide",
    "DiffValue",
    "DriftReport",
    "EraseReport",
    "ErrorBody",
    "ErrorReport",
    "ExplainReport",
    "FileFacts",
    "FindingFacts",
    "ForecastRelease",
    "ForecastReport",
    "GovernanceFacts",
    "IdentifyingFacts",
    "InitColumn",
    "InitReport",
    "JournalistFacts",
    "KeyReport",
    "Learned",
    "LimitFacts",
    "LogEvent",
    "LogReport",
    "LogView",
    "LossFacts",
    "MeasureFacts",
    "NewReport",
    "OwedDelivery",
    "Panel",
    "Picture",
    "Plan",
    "PlanReport",
    "PrivateFacts",
    "ProblemReport",
    "PromiseFacts",
    "PromiseRow",
    "PromisesReport",
    "Provenance",
    "PublishReport",
    "QueryErrorFacts",
    "QuestionFacts",
    "ReceiptReport",
    "ReceiptedRelease",
    "ReleaseFacts",
    "Report",
    "RetractReport",
    "RiskFacts",
    "SequenceFacts",
    "SeriesFacts",
    "ShowReport",
    "ShownRelease",
    "SigningFacts",
    "SituationReport",
    "StepFacts",
    "StepGroup",
    "StoryFacts",
    "Summary",
    "SuppressedFacts",
    "TruthFacts",
    "VaultReport",
    "VerdictFacts",
    "VerifyFault",
    "VerifyReport",
    "ViewSummary",
    "WhatIf",
    "WitnessFacts",
    "WitnessGroup",
]
