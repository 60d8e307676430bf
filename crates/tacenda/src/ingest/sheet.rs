//! A sheet of an Excel workbook (.xlsx), as a table of texts.
//!
//! The first row with content holds the column names, and each row below it is a person. A formula counts with its
//! saved value, and dates are written like 2025-12-31. A sheet that is no plain table is refused with the place of the
//! cell: a title above the names, an empty row in between, totals below, errors such as #N/A. Nothing is guessed,
//! because a row that is no person would be published as one.
//!
//! # Bounds
//! A workbook is a zip archive. It is unpacked once to count its bytes, so that a small file cannot fill the memory.

use crate::ingest::columnar::{damaged, guarded};
use crate::ingest::error::{IngestError, Kind};
use crate::ingest::source::{Frame, Hashing};
use crate::ingest::spool::InputFile;
use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use std::io;
use std::io::{BufReader, Read, Seek};
use std::sync::Arc;
use zip::ZipArchive;

/// The most bytes that a workbook may unpack to, and the most that the texts of a sheet may have.
const MOST: u64 = (1 << 31) - 1;

/// Whether an archive is a workbook.
pub(super) fn is_workbook(file: &InputFile) -> bool {
    file.rewound()
        .ok()
        .and_then(|file| ZipArchive::new(file).ok())
        .is_some_and(|zip| zip.index_for_name("xl/workbook.xml").is_some())
}

/// Reads a sheet: the one that is named, or the only one with data.
pub(super) fn read(file: &InputFile, name: &str, wanted: Option<&str>) -> Result<Frame, IngestError> {
    let rewound = || -> Result<BufReader<InputFile>, IngestError> {
        Ok(BufReader::new(file.rewound().map_err(|source| IngestError::Unreadable { name: name.into(), source })?))
    };
    check_size(rewound()?, name)?;
    let mut hashing = Hashing::new(rewound()?);
    io::copy(&mut hashing, &mut io::sink()).map_err(|error| IngestError::reading(name, error))?;
    let workbook = rewound()?;
    let mut workbook: Xlsx<BufReader<InputFile>> = guarded(name, || Xlsx::new(workbook))?;
    let sheet = chosen(&mut workbook, name, wanted)?;
    let table = guarded(name, || Ok::<_, XlsxError>(rows(&mut workbook, &sheet)))?;
    let table = table.map_err(|fault| fault.error(name, &sheet))?;
    table.into_frame(name, &sheet, hashing.digest())
}

/// Unpacks everything without keeping it, and counts the bytes.
fn check_size(file: impl Read + Seek, name: &str) -> Result<(), IngestError> {
    let mut zip = guarded(name, || ZipArchive::new(file))?;
    let mut left = MOST;
    for member in 0..zip.len() {
        let member = guarded(name, || zip.by_index(member))?;
        let unpacked = io::copy(&mut member.take(left + 1), &mut io::sink());
        let unpacked = unpacked.map_err(|error| IngestError::reading(name, error))?;
        left = left.checked_sub(unpacked).ok_or_else(|| too_large(name))?;
    }
    Ok(())
}

fn too_large(name: &str) -> IngestError {
    let detail = format!("{name} has more than {MOST} bytes when it is unpacked; save the sheet as CSV");
    IngestError::whole(Kind::NotWhatItSays, detail)
}

/// The sheet to read.
fn chosen(workbook: &mut Xlsx<BufReader<InputFile>>, name: &str, wanted: Option<&str>) -> Result<String, IngestError> {
    let is_table = |sheet: &&calamine::Sheet| sheet.typ == SheetType::WorkSheet;
    let all = workbook.sheets_metadata().to_vec();
    let all: Vec<&calamine::Sheet> = all.iter().filter(is_table).collect();
    let names = |sheets: &[&str]| sheets.join(", ");
    if let Some(wanted) = wanted {
        if all.iter().any(|sheet| sheet.name == wanted) {
            return Ok(wanted.to_string());
        }
        let there: Vec<&str> = all.iter().map(|sheet| &*sheet.name).collect();
        let detail = format!("{name} has no sheet of that name; it has {}", names(&there));
        return Err(IngestError::whole(Kind::WhichSheet, detail));
    }
    let mut filled: Vec<&str> = Vec::new();
    for sheet in all.iter().filter(|sheet| sheet.visible == SheetVisible::Visible) {
        let has_data = guarded(name, || -> Result<bool, XlsxError> {
            let mut cells = workbook.worksheet_cells_reader(&sheet.name)?;
            while let Some(cell) = cells.next_cell()? {
                if !matches!(cell.get_value(), DataRef::Empty) {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        filled.extend(has_data.then_some(&*sheet.name));
    }
    match filled[..] {
        [] => Err(IngestError::whole(Kind::EmptyFile, format!("{name} has no visible sheet with data"))),
        [sheet] => Ok(sheet.to_string()),
        _ => {
            let detail = format!("{name} has data in several sheets: {}", names(&filled));
            Err(IngestError::whole(Kind::WhichSheet, detail))
        }
    }
}

/// What a sheet holds.
struct SheetTable {
    names: Vec<String>,
    columns: Vec<StringBuilder>,
    /// The row number of the names in the sheet, from 1.
    header: u32,
    rows: u32,
}

/// What is wrong with a sheet.
enum SheetFault {
    /// A cell, by row and column from 0, and what is wrong with it.
    Cell(u32, u32, &'static str),
    TooLarge,
    Damaged(XlsxError),
}

impl From<XlsxError> for SheetFault {
    fn from(error: XlsxError) -> SheetFault {
        SheetFault::Damaged(error)
    }
}

impl SheetFault {
    fn error(self, name: &str, sheet: &str) -> IngestError {
        match self {
            SheetFault::Cell(row, column, what) => {
                IngestError::whole(Kind::BadSheet, format!("{sheet}!{}: {what}", place(row, column)))
            }
            SheetFault::TooLarge => too_large(name),
            SheetFault::Damaged(error) => damaged(name, &error),
        }
    }
}

/// The place of a cell in spreadsheet notation: C17.
fn place(row: u32, column: u32) -> String {
    let (mut letters, mut rest) = (Vec::new(), column + 1);
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    format!("{}{}", letters.iter().rev().collect::<String>(), row + 1)
}

fn rows(workbook: &mut Xlsx<BufReader<InputFile>>, sheet: &str) -> Result<SheetTable, SheetFault> {
    let mut cells = workbook.worksheet_cells_reader(sheet)?;
    // The place of each column of the sheet in the table.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut table = SheetTable { names: Vec::new(), columns: Vec::new(), header: 0, rows: 0 };
    let mut bytes = 0;
    while let Some(cell) = cells.next_cell_with_formula_metadata()? {
        let (row, column) = cell.pos;
        let fault = |what| Err(SheetFault::Cell(row, column, what));
        let text = match &cell.value {
            DataRef::Empty if cell.formula.is_some() => return fault("a formula without a value"),
            DataRef::Error(_) => return fault("an error in place of a value"),
            value => text_of(value),
        };
        if text.is_empty() {
            continue;
        }
        bytes += text.len() as u64;
        if bytes > MOST {
            return Err(SheetFault::TooLarge);
        }
        if table.header == 0 || row + 1 == table.header {
            table.header = row + 1;
            places.resize(column as usize, None);
            places.push(Some(table.names.len()));
            table.names.push(text);
            table.columns.push(StringBuilder::new());
            continue;
        }
        if row < table.header + table.rows - u32::from(table.rows > 0) {
            return fault("rows are not in order");
        }
        let at = row - table.header;
        if at > table.rows {
            return Err(SheetFault::Cell(table.header + table.rows, 0, "an empty row, and more rows below it"));
        }
        let Some(Some(place)) = places.get(column as usize).copied() else {
            return fault("a value in a column without a name in the first row");
        };
        table.rows = at + 1;
        let builder = &mut table.columns[place];
        if offset(builder) > at {
            return fault("two values in one cell");
        }
        pad(builder, at);
        builder.append_value(&text);
    }
    Ok(table)
}

/// How many rows a column has.
fn offset(builder: &StringBuilder) -> u32 {
    arrow_array::builder::ArrayBuilder::len(builder) as u32
}

/// Leaves cells empty up to a row.
fn pad(builder: &mut StringBuilder, row: u32) {
    while offset(builder) < row {
        builder.append_null();
    }
}

impl SheetTable {
    fn into_frame(self, name: &str, sheet: &str, digest: String) -> Result<Frame, IngestError> {
        let SheetTable { names, mut columns, header, rows } = self;
        if names.is_empty() {
            return Err(IngestError::whole(Kind::EmptyFile, format!("the sheet {sheet} of {name} is empty")));
        }
        columns.iter_mut().for_each(|column| pad(column, rows));
        let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let columns = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(|error| damaged(name, &error))?;
        let last = header + rows;
        let note = format!("Excel, sheet {sheet}, rows {} to {last}, hidden and filtered ones too", header + 1);
        Ok(Frame { schema, batches: vec![batch], first_row: u64::from(header) + 1, note, digest: Some(digest) })
    }
}

/// The text that the cell would have in a text file.
fn text_of(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::String(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => text.to_string(),
        DataRef::Bool(truth) => truth.to_string(),
        DataRef::DateTime(moment) => moment_text(moment),
        DataRef::DateTimeIso(text) => text.strip_suffix("T00:00:00").unwrap_or(text).to_string(),
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}

/// A number with the fifteen digits that a spreadsheet keeps: 0.1 + 0.2 is 0.3 there.
fn number_text(number: f64) -> String {
    let kept: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    kept.to_string()
}

/// A date, with its time if that is not midnight; a time alone; or a duration in days.
fn moment_text(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return number_text(moment.as_f64());
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match (moment.as_f64() < 1.0, time == "00:00:00") {
        (true, _) => time,
        (false, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02} {time}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::draft::draft;
    use crate::ingest::{IngestError, Source};
    use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, Worksheet, XlsxError};

    fn source(make: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> Result<Source, IngestError> {
        let mut workbook = Workbook::new();
        make(&mut workbook).unwrap();
        Source::spool("a test", &workbook.save_to_buffer().unwrap()[..])
    }

    /// Names in the third row and the second column, two people below.
    fn people(sheet: &mut Worksheet) -> Result<(), XlsxError> {
        let date = Format::new().set_num_format("dd.mm.yyyy");
        for (column, name) in (1..).zip(["id", "age", "in", "sick", "cost"]) {
            sheet.write(2, column, name)?;
        }
        for row in 3..5 {
            sheet.write(row, 1, row)?;
            sheet.write_formula(row, 2, Formula::new("=40+4").set_result("44"))?;
            sheet.write_with_format(row, 3, ExcelDateTime::from_ymd(2025, 12, row as u8)?, &date)?;
            sheet.write(row, 4, true)?;
        }
        sheet.write(4, 5, 0.1 + 0.2)?;
        Ok(())
    }

    #[test]
    fn cells_are_what_they_would_be_in_a_text_file() {
        let source = source(|workbook| people(workbook.add_worksheet().set_name("Q1")?)).unwrap();
        let frame = source.in_memory().unwrap();
        let text = |column: usize| {
            let column = arrow_array::cast::AsArray::as_string::<i32>(frame.batches[0].column(column));
            column.iter().map(|cell| cell.unwrap_or("-").to_string()).collect::<Vec<_>>().join(" ")
        };
        let columns: Vec<String> = (0..5).map(text).collect();
        assert_eq!(columns, ["3 4", "44 44", "2025-12-03 2025-12-04", "true true", "- 0.3"]);
        assert_eq!(frame.first_row, 4);
        assert_eq!(frame.note, "Excel, sheet Q1, rows 4 to 5, hidden and filtered ones too");
        assert_eq!(draft(&source).unwrap().rows, 2);
    }

    fn refused(make: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> String {
        let error = source(make).map(|_| ()).unwrap_err().to_string();
        error[..error.find(';').unwrap()].to_string()
    }

    #[test]
    fn what_is_no_plain_table_is_refused_with_its_place() {
        let with = |row: u32, column: u16, text: &'static str| {
            move |workbook: &mut Workbook| {
                let sheet = workbook.add_worksheet().set_name("Q1")?;
                people(sheet)?;
                sheet.write(row, column, text).map(|_| ())
            }
        };
        assert_eq!(
            refused(with(0, 1, "Patients of 2025")),
            "D135 a sheet that is no plain table: Q1!A2: an empty row, and more rows below it"
        );
        assert_eq!(
            refused(with(1, 1, "Patients of 2025")),
            "D135 a sheet that is no plain table: Q1!C3: a value in a column without a name in the first row"
        );
        assert_eq!(
            refused(with(6, 1, "total")),
            "D135 a sheet that is no plain table: Q1!A6: an empty row, and more rows below it"
        );
        assert_eq!(
            refused(with(3, 27, "see Ann")),
            "D135 a sheet that is no plain table: Q1!AB4: a value in a column without a name in the first row"
        );
        let failing = |workbook: &mut Workbook| {
            let sheet = workbook.add_worksheet();
            people(sheet)?;
            sheet.write_formula(4, 2, Formula::new("=1/0").set_result("#DIV/0!")).map(|_| ())
        };
        assert_eq!(refused(failing), "D135 a sheet that is no plain table: Sheet1!C5: an error in place of a value");
    }

    #[test]
    fn one_of_several_sheets_is_named() {
        let two = |workbook: &mut Workbook| {
            people(workbook.add_worksheet().set_name("Q1")?)?;
            people(workbook.add_worksheet().set_name("Q2")?)?;
            workbook.add_worksheet().set_name("empty").map(|_| ())
        };
        assert_eq!(refused(two), "D134 which sheet: a test has data in several sheets: Q1, Q2");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stays.xlsx");
        let mut workbook = Workbook::new();
        two(&mut workbook).unwrap();
        workbook.save(&path).unwrap();
        let open = |sheet: &str| Source::open(format!("{}#{sheet}", path.display()).as_ref());
        assert!(open("Q2").unwrap().in_memory().unwrap().note.contains("sheet Q2"));
        assert_eq!(open("Q3").unwrap_err().code(), "D134");
        assert_eq!(open("empty").unwrap_err().code(), "D115");
    }

    /// A damaged workbook is an error, whatever byte is wrong; it never ends the program.
    #[test]
    fn damaged_workbooks_are_refused_or_read() {
        let mut workbook = Workbook::new();
        people(workbook.add_worksheet()).unwrap();
        let whole = workbook.save_to_buffer().unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x41;
            let _ = Source::spool("a test", &bytes[..]).and_then(|source| source.look());
            let _ = Source::spool("a test", &whole[..at]).and_then(|source| source.look());
        }
    }
}
