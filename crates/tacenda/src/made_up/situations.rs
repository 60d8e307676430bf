//! The situations of four papers in small: made-up tables, and what a naive publisher makes of them.
//!
//! The fifth, of paper 003, is the hospital. Each naive file keeps its threshold on its own. The tables are those of the
//! papers' own examples where there is one, with a sensitive column where a paper has none, or one person more.

/// What happens to a table, and what is published of it.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// The promise that answers it, and the name of its demo.
    pub name: &'static str,
    /// What happens, in a few words.
    pub about: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// What a naive publisher does, in a sentence or two.
    pub naively: &'static str,
    /// What Tacenda does instead, in a sentence or two.
    pub instead: &'static str,
    /// The policy file and its hierarchies, by their paths.
    pub project: &'static [(&'static str, &'static str)],
    /// A policy file under which the second table is refused, if the paper's own promise covers one release only.
    pub alone: Option<&'static str>,
    /// What is published, in order of time.
    pub stages: &'static [Stage],
    /// The columns that an attacker may know.
    pub quasi: &'static [&'static str],
    /// The column that nobody may learn.
    pub sensitive: &'static str,
    /// The column that names a person.
    pub identifier: &'static str,
}

impl Situation {
    /// Whether recipients get different columns. Then the attack joins the files and knows nobody.
    pub fn is_of_views(&self) -> bool {
        self.stages.iter().any(|stage| stage.view.is_some())
    }
}

/// One release of a situation.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its label.
    pub label: &'static str,
    /// The private table.
    pub table: &'static str,
    /// What the naive publisher makes of it.
    pub naive: &'static str,
    /// The view it is, if recipients get different columns.
    pub view: Option<&'static str>,
}

/// The situations, in the order of their papers.
pub const SITUATIONS: [&Situation; 4] = [&GROWING, &CLUSTERS, &WAITING, &VIEWS];

/// Paper 000: people are only added.
const GROWING: Situation = Situation {
    name: "incremental-k-anonymity",
    about: "people are only added",
    citation: "J. Pei, J. Xu, Z. Wang, W. Wang, K. Wang. Maintaining k-anonymity against incremental updates. SSDBM 2007",
    naively: "Every release is grouped anew, as well as it can be. Each group has two people and two diseases.",
    instead: "A published group never changes. People who are new form groups of their own.",
    project: &[("tacenda.toml", GROWING_POLICY)],
    alone: None,
    stages: &[
        Stage { label: "2026-Q1", table: GROWING_1, naive: GROWING_NAIVE_1, view: None },
        Stage { label: "2026-Q2", table: GROWING_2, naive: GROWING_NAIVE_2, view: None },
    ],
    quasi: &["zip", "sex", "age"],
    sensitive: "disease",
    identifier: "name",
};

const GROWING_POLICY: &str = r#"policy = 1

[series]
name  = "growing"
title = "A table that only grows (made up)"

[columns]
name    = { role = "identifier" }
zip     = { role = "quasi", type = "integer", domain = [20430, 20440], missing = "error" }
sex     = { role = "quasi", type = "category", values = ["F", "M"], missing = "error" }
age     = { role = "quasi", type = "integer", domain = [0, 120], missing = "error" }
disease = { role = "sensitive", type = "category", missing = "error" }

[promise]
model   = "incremental-k-anonymity"
k       = 2
l       = 2
cohorts = true
"#;
const GROWING_1: &str = "\
name,zip,sex,age,disease
Anna,20433,F,21,flu
Bob,20437,M,48,asthma
Carol,20433,F,26,cold
Daisy,20437,F,31,flu
";
const GROWING_2: &str = "\
name,zip,sex,age,disease
Anna,20433,F,21,flu
Bob,20437,M,48,asthma
Carol,20433,F,26,cold
Daisy,20437,F,31,flu
Eddy,20437,M,54,gout
Frances,20435,F,31,cold
";
const GROWING_NAIVE_1: &str = "\
zip,sex,age,disease
20433,F,21-26,cold
20433,F,21-26,flu
20437,*,31-48,asthma
20437,*,31-48,flu
";
const GROWING_NAIVE_2: &str = "\
zip,sex,age,disease
20433,F,21-26,cold
20433,F,21-26,flu
20435-20437,F,31,cold
20435-20437,F,31,flu
20437,M,48-54,asthma
20437,M,48-54,gout
";

/// Paper 001: clusters are maintained while people come and go.
const CLUSTERS: Situation = Situation {
    name: "k-anonymity",
    about: "clusters are maintained while people arrive and leave",
    citation: "T. M. Truta, A. Campan. k-anonymization incremental maintenance and optimization techniques. SAC 2007",
    naively: "Clusters of three or more are kept up to date, as the paper describes. It claims nothing about two releases.",
    instead: "k-anonymity is promised for one release. The same tables are published under m-invariance: everyone keeps \
              one set of possible incomes.",
    project: &[("tacenda.toml", CLUSTERS_POLICY), ("hierarchies/postcode.csv", CLUSTERS_POSTCODES)],
    alone: Some(CLUSTERS_ALONE),
    stages: &[
        Stage { label: "2026-Q1", table: CLUSTERS_1, naive: CLUSTERS_NAIVE_1, view: None },
        Stage { label: "2026-Q2", table: CLUSTERS_2, naive: CLUSTERS_NAIVE_2, view: None },
    ],
    quasi: &["age", "postcode", "sex"],
    sensitive: "income",
    identifier: "person",
};

const CLUSTERS_POLICY: &str = r#"policy = 1

[series]
name  = "clusters"
title = "People arrive and leave (made up)"

[columns]
person   = { role = "identifier" }
age      = { role = "quasi", type = "integer", domain = [0, 120], missing = "error" }
postcode = { role = "quasi", type = "category", hierarchy = "hierarchies/postcode.csv", missing = "error" }
sex      = { role = "quasi", type = "category", values = ["F", "M"], missing = "error" }
income   = { role = "sensitive", type = "category", values = ["low", "middle", "high"] }

[promise]
model = "m-invariance"
m     = 2
k     = 2

[counterfeits]
max_share = 0.5
[withheld]
max_share = 0.5
"#;
const CLUSTERS_ALONE: &str = r#"policy = 1

[series]
name  = "clusters-alone"
title = "One release of clusters (made up)"

[columns]
person   = { role = "identifier" }
age      = { role = "quasi", type = "integer", domain = [0, 120], missing = "error" }
postcode = { role = "quasi", type = "category", hierarchy = "hierarchies/postcode.csv", missing = "error" }
sex      = { role = "quasi", type = "category", values = ["F", "M"], missing = "error" }
income   = { role = "sensitive", type = "category", values = ["low", "middle", "high"] }

[promise]
model = "k-anonymity"
k     = 3
"#;
const CLUSTERS_POSTCODES: &str = "\
1011;101*;10**;*
1012;101*;10**;*
1021;102*;10**;*
1022;102*;10**;*
2011;201*;20**;*
2012;201*;20**;*
2021;202*;20**;*
2022;202*;20**;*
";
const CLUSTERS_1: &str = "\
person,age,postcode,sex,income
k01,21,1011,F,low
k02,24,1011,M,low
k03,27,1012,F,middle
k04,33,1021,M,middle
k05,36,1021,F,high
k06,39,1022,M,low
k07,52,2011,F,high
k08,55,2011,M,middle
k09,58,2012,F,middle
k10,71,2021,M,low
k11,74,2022,F,low
k12,79,2022,M,high
";
const CLUSTERS_2: &str = "\
person,age,postcode,sex,income
k01,21,1011,F,low
k03,27,1012,F,middle
k04,33,1021,M,middle
k05,36,1021,F,high
k06,39,1022,M,low
k07,52,2011,F,high
k08,55,2011,M,middle
k09,58,2012,F,middle
k11,74,2022,F,low
k12,79,2022,M,high
k13,23,1012,F,high
k14,35,1022,F,middle
k15,57,2012,M,low
k16,61,2021,F,middle
";
const CLUSTERS_NAIVE_1: &str = "\
age,postcode,sex,income
21-27,101*,*,low
21-27,101*,*,low
21-27,101*,*,middle
33-39,102*,*,high
33-39,102*,*,low
33-39,102*,*,middle
52-58,201*,*,high
52-58,201*,*,middle
52-58,201*,*,middle
71-79,202*,*,high
71-79,202*,*,low
71-79,202*,*,low
";
const CLUSTERS_NAIVE_2: &str = "\
age,postcode,sex,income
21-27,101*,F,high
21-27,101*,F,low
21-27,101*,F,middle
33-39,102*,*,high
33-39,102*,*,low
33-39,102*,*,middle
33-39,102*,*,middle
52-58,201*,*,high
52-58,201*,*,low
52-58,201*,*,middle
52-58,201*,*,middle
61-79,202*,*,high
61-79,202*,*,low
61-79,202*,*,middle
";

/// Paper 002: people are only added, and nobody may learn a value.
const WAITING: Situation = Situation {
    name: "incremental-l-diversity",
    about: "people are only added, and there are no artificial rows",
    citation: "Incremental l-diversity by clustering. Appl. Math. Inf. Sci. 7(5), 2055-2060, 2013",
    naively: "A new patient joins the nearest class if the set of diagnoses stays the same, as the paper describes.",
    instead: "Patients whose diagnosis would show wait until others arrive with whom they form a group.",
    project: &[("tacenda.toml", WAITING_POLICY)],
    alone: None,
    stages: &[
        Stage { label: "2026-Q1", table: WAITING_1, naive: WAITING_NAIVE_1, view: None },
        Stage { label: "2026-Q2", table: WAITING_2, naive: WAITING_NAIVE_2, view: None },
        Stage { label: "2026-Q3", table: WAITING_3, naive: WAITING_NAIVE_3, view: None },
    ],
    quasi: &["age", "sex"],
    sensitive: "diagnosis",
    identifier: "patient",
};

const WAITING_POLICY: &str = r#"policy = 1

[series]
name  = "waiting"
title = "Additions only, nobody certain (made up)"

[columns]
patient   = { role = "identifier" }
age       = { role = "quasi", type = "integer", domain = [0, 120], missing = "error" }
sex       = { role = "quasi", type = "category", values = ["F", "M"], missing = "error" }
diagnosis = { role = "sensitive", type = "category", missing = "error" }

[promise]
model = "incremental-l-diversity"
l     = 2
mode  = "safe"

[withheld]
max_share = 0.2
"#;
const WAITING_1: &str = "\
patient,age,sex,diagnosis
l1,22,F,flu
l2,26,M,gastritis
l3,41,F,flu
l4,45,M,gastritis
l5,63,F,dyspepsia
l6,68,M,asthma
";
const WAITING_2: &str = "\
patient,age,sex,diagnosis
l1,22,F,flu
l2,26,M,gastritis
l3,41,F,flu
l4,45,M,gastritis
l5,63,F,dyspepsia
l6,68,M,asthma
l7,24,M,flu
";
const WAITING_3: &str = "\
patient,age,sex,diagnosis
l1,22,F,flu
l2,26,M,gastritis
l3,41,F,flu
l4,45,M,gastritis
l5,63,F,dyspepsia
l6,68,M,asthma
l7,24,M,flu
l8,43,F,gastritis
";
const WAITING_NAIVE_1: &str = "\
age,sex,diagnosis
22-26,*,flu
22-26,*,gastritis
41-45,*,flu
41-45,*,gastritis
63-68,*,asthma
63-68,*,dyspepsia
";
const WAITING_NAIVE_2: &str = "\
age,sex,diagnosis
22-26,*,flu
22-26,*,flu
22-26,*,gastritis
41-45,*,flu
41-45,*,gastritis
63-68,*,asthma
63-68,*,dyspepsia
";
const WAITING_NAIVE_3: &str = "\
age,sex,diagnosis
22-26,*,flu
22-26,*,flu
22-26,*,gastritis
41-45,*,flu
41-45,*,gastritis
41-45,*,gastritis
63-68,*,asthma
63-68,*,dyspepsia
";

/// Paper 004: recipients get different columns of the same people.
const VIEWS: Situation = Situation {
    name: "xy-anonymity",
    about: "recipients get different columns of the same people",
    citation: "K. Wang, B. C. M. Fung. Anonymizing sequential releases. KDD 2006",
    naively: "A hospital gets jobs and diseases, and later a tax office gets names and jobs. Neither file has both a name \
              and a disease.",
    instead: "The second view is made so that a reader who joins both finds two possible diseases for everyone.",
    project: &[("tacenda.toml", VIEWS_POLICY), ("hierarchies/job.csv", VIEWS_JOBS)],
    alone: None,
    stages: &[
        Stage { label: "health", table: VIEWS_TABLE, naive: VIEWS_NAIVE_1, view: Some("health") },
        Stage { label: "tax", table: VIEWS_TABLE, naive: VIEWS_NAIVE_2, view: Some("tax") },
    ],
    quasi: &["name", "job"],
    sensitive: "disease",
    identifier: "pid",
};

const VIEWS_POLICY: &str = r#"policy = 1

[series]
name  = "views"
title = "Different columns for different recipients (made up)"

[columns]
pid     = { role = "identifier" }
name    = { role = "quasi", type = "category", values = ["Alice", "Bob", "Cathy"], missing = "error" }
job     = { role = "quasi", type = "category", hierarchy = "hierarchies/job.csv", missing = "error" }
disease = { role = "sensitive", values = ["Cancer", "HIV"] }

[views.health]
columns    = ["job", "disease"]
recipients = ["hospital"]

[views.tax]
columns    = ["name", "job"]
recipients = ["tax office"]

[promise]
model = "xy-anonymity"
x     = ["name", "tax.job"]
y     = ["disease"]
k     = 2
"#;
const VIEWS_JOBS: &str = "\
Banker;Office;*
Clerk;Works;*
Driver;Works;*
Engineer;Office;*
";
const VIEWS_TABLE: &str = "\
pid,name,job,disease
1,Alice,Banker,Cancer
2,Alice,Banker,Cancer
3,Bob,Clerk,HIV
4,Bob,Driver,Cancer
5,Cathy,Engineer,HIV
6,Cathy,Engineer,HIV
";
const VIEWS_NAIVE_1: &str = "\
job,disease
Banker,Cancer
Banker,Cancer
Clerk,HIV
Driver,Cancer
Engineer,HIV
Engineer,HIV
";
const VIEWS_NAIVE_2: &str = "\
name,job
Alice,Banker
Alice,Banker
Bob,Clerk
Bob,Driver
Cathy,Engineer
Cathy,Engineer
";
