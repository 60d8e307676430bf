//! The JSON schemas of what the commands print, one per command.

use crate::commands::demo::DemoList;
use crate::commands::promises::PromisesReport;
use crate::failure::{ErrorReport, Failure};
use crate::screen::Screen;
use schemars::schema_for;
use serde_json::json;
use tacenda::report::Report;
use tacenda::use_cases::{
    AdoptReport, ApproveReport, BackupReport, CheckReport, CountReport, DeliverReport, DemoReport, DiffReport,
    EraseReport, ExplainReport, InitReport, KeyReport, LogReport, NewReport, Plan, PlanReport, PublishReport,
    ReceiptReport, RetractReport, ShowReport, SituationReport, VaultReport, VerifyReport,
};

pub fn run(screen: &Screen) -> Result<u8, Failure> {
    let schemas = json!({
        "adopt": schema_for!(AdoptReport),
        "approve": schema_for!(ApproveReport),
        "audit": schema_for!(Report),
        "backup": schema_for!(BackupReport),
        "check": schema_for!(CheckReport),
        "count": schema_for!(CountReport),
        "deliver": schema_for!(DeliverReport),
        "demo": schema_for!(DemoReport),
        "demo-list": schema_for!(DemoList),
        "demo-small": schema_for!(SituationReport),
        "diff": schema_for!(DiffReport),
        "erase": schema_for!(EraseReport),
        "error": schema_for!(ErrorReport),
        "explain": schema_for!(ExplainReport),
        "init": schema_for!(InitReport),
        "key": schema_for!(KeyReport),
        "log": schema_for!(LogReport),
        "new": schema_for!(NewReport),
        "plan": schema_for!(PlanReport),
        "plan-file": schema_for!(Plan),
        "promises": schema_for!(PromisesReport),
        "publish": schema_for!(PublishReport),
        "receipt": schema_for!(ReceiptReport),
        "report": schema_for!(Report),
        "retract": schema_for!(RetractReport),
        "show": schema_for!(ShowReport),
        "vault": schema_for!(VaultReport),
        "verify": schema_for!(VerifyReport),
    });
    let text = serde_json::to_string_pretty(&schemas).map_err(Failure::bug)?;
    screen.print(&(text + "\n"))?;
    Ok(0)
}
