"""The part in Rust. Import `tacenda`, not this."""

from typing import Any, Dict, List, Optional, Tuple

__version__: str

class TacendaError(Exception):
    code: str
    exit_code: int
    findings: List[Dict[str, Any]]

class Frame:
    columns: List[str]
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    def __len__(self) -> int: ...
    def to_pyarrow(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...

class Release:
    number: int
    label: str
    frame: Frame
    groups: Frame
    counterfeits: int
    withheld: int
    loss: Dict[str, Any]
    change: Dict[str, int]
    findings: List[Dict[str, Any]]
    digest: str
    folder: Optional[Any]
    files: List[str]
    def __len__(self) -> int: ...

class Series:
    releases: int
    notes: List[str]
    def __init__(self, policy: str, path: str, seed: Optional[bytes] = None) -> None: ...
    def publish(
        self, data: Any, label: Optional[str] = None, delta: bool = False, threads: int = 0
    ) -> Release: ...

class Project:
    def __init__(
        self, root: str, policy: Optional[str] = None, anchor_from: Optional[str] = None
    ) -> None: ...
    def plan(self, data: Any, label: Optional[str] = None, delta: bool = False, threads: int = 0) -> Release: ...
    def publish(self, data: Any, label: Optional[str] = None, delta: bool = False, threads: int = 0) -> Release: ...
    def report(self, edition: str, language: Optional[str] = None) -> str: ...
    def log(self) -> List[Dict[str, Any]]: ...
    def erase(self, identifiers: List[str]) -> Dict[str, Any]: ...
    def retain(self, releases: int) -> Dict[str, Any]: ...
    def receipt(self) -> Dict[str, Any]: ...
    def verify(self, keys: List[str]) -> Dict[str, Any]: ...

def promises() -> List[Dict[str, str]]: ...
def audit(
    releases: List[Any],
    quasi: List[str],
    sensitive: List[str],
    truth: List[Any],
    id: Optional[str],
    k: int,
    l: int,
    presence: bool,
    missing: Optional[str],
) -> Tuple[Dict[str, Any], str]: ...
