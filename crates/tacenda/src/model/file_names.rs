//! How the files of a release are named.

/// How the name of the file ends that says how many counterfeits each group has.
pub const COUNTERFEITS: &str = ".counterfeits.csv";

/// How the name of the file ends that says how many people have which quasi values.
pub const COUNTS: &str = ".counts.csv";

/// How names of data files end, apart from `.gz` and `.zst`.
const DATA: [&str; 4] = [".csv", ".tsv", ".txt", ".parquet"];

/// Whether a name is that of a data file, and not of one that stands beside it.
pub fn is_data_file(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let plain = small.trim_end_matches(".gz").trim_end_matches(".zst");
    DATA.iter().any(|ending| plain.ends_with(ending)) && !plain.ends_with(COUNTERFEITS) && !plain.ends_with(COUNTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_the_data_are_no_data() {
        for name in ["r0001.csv", "q1.CSV.gz", "q1.tsv.zst", "a.counts.parquet"] {
            assert!(is_data_file(name), "{name}");
        }
        for name in ["r0001.counts.csv", "r0001.counterfeits.csv", "r0001.counts.csv.gz", "manifest.json", "csv"] {
            assert!(!is_data_file(name), "{name}");
        }
    }
}
