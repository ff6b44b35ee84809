"""Overlay folders for tests: tables as CSV text or as workbook cells."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl

HEADERS = {
    "contract_rates": "provider,model,token_kind,service_tier,region,valid_from,valid_to,"
    "usd_per_mtok,discount_frac",
    "discounts_credits": "month,provider,model,team,description,usd",
    "commitments": "month,provider,model,hours,units,usd,used_frac",
    "fx_rates": "month,currency,usd_per_unit,source",
    "taxes": "month,provider,usd,tax_frac,description",
    "hosting_costs": "month,deployment,gpu,gpu_count,hours,usd,bill_includes_power",
    "prices": "provider,price_model,token_kind,service_tier,input_tokens_from,valid_from,"
    "valid_to,utc_time_from,utc_time_to,days,usd_per_mtok,source,source_date",
}


def overlay_folder(folder: Path, tables: Mapping[str, Iterable[str]]) -> Path:
    """Write the rows of tables, each a CSV line, under their headers; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        text = "".join(f"{line}\n" for line in (HEADERS[table], *rows))
        (folder / f"{table}.csv").write_text(text, encoding="utf-8")
    return folder


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """Write a workbook of sheets, each a list of rows of cells."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path
