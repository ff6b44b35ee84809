"""What the month's electricity emitted, line by line, and what it would have on other grids."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_LINE_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    c.FACILITY,
    c.CARBON,
    Column("carbon_low_kgco2e", "Carbon, low", "kgco2e", "kg CO₂e", "Low end (5 %)."),
    Column("carbon_high_kgco2e", "Carbon, high", "kgco2e", "kg CO₂e", "High end (95 %)."),
    Column("carbon_frac", "Share of carbon", "frac", meaning="Share of the month's carbon."),
    Column("carbon_gco2e_per_task", "Carbon per task", "gco2e", "g CO₂e", "Carbon over the tasks."),
    c.BATCH,
    c.GRADE,
)
_GRID_COLUMNS = (
    Column("zone", "Grid", "text", meaning="Country or region whose electricity it would be."),
    Column("year", "Year", "id", meaning="Year of the factor."),
    Column("basis", "Basis", "text", meaning="life-cycle, or direct emissions alone."),
    Column("method", "Method", "text", meaning="location-based, or market-based by contracts."),
    Column("grid_gco2e_per_kwh", "Grid factor", "number", "g CO₂e/kWh", "Carbon of a kWh there."),
    Column("grid_carbon_kgco2e", "Carbon there", "kgco2e", "kg CO₂e", "The month's kWh there."),
    Column("source", "Source", "text", meaning="Where the factor comes from."),
    Column("source_date", "Source date", "text", meaning="Day of the source."),
)
_SCALED = ("carbon_gco2e", "carbon_low_gco2e", "carbon_high_gco2e")


def section(mart: pl.DataFrame, grids: pl.DataFrame | None = None) -> Section:
    """Return the carbon of one month.

    Args:
        mart: mart_cost_per_task of the month.
        grids: Grid factors by zone and year; without them nothing is compared.
    """
    ordered = r.sorted_by(mart, "carbon_gco2e", "provider", "model_id", "query_class")
    is_empty = ordered.is_empty()
    total = r.known_sum(ordered, "facility_energy_kwh")
    tables: tuple[Table, ...] = ()
    if not is_empty:
        tables = (_line_table(ordered), *_grid_tables(grids, total))
    return Section(
        name="carbon",
        title="Carbon",
        sheet="Carbon",
        question="What did the electricity emit, and how much of that is the grid?",
        statements=() if is_empty else _statements(ordered),
        tables=tables,
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _line_table(mart: pl.DataFrame) -> Table:
    whole = r.known_sum(mart, "carbon_gco2e")
    shares = [r.share(value, whole) for value in mart.get_column("carbon_gco2e").to_list()]
    in_kg = mart.with_columns(
        *(
            r.scaled(name, r.GRAMS_PER_KG).alias(name.replace("gco2e", "kgco2e"))
            for name in _SCALED
        ),
        pl.Series("carbon_frac", shares, pl.Float64),
    )
    return Table(
        "carbon",
        "Carbon by model and class",
        _LINE_COLUMNS,
        r.table_rows(in_kg, _LINE_COLUMNS),
        r.total_row(in_kg, _LINE_COLUMNS, ("facility_energy_kwh", "carbon_kgco2e")),
        "Electricity times the grid factor among the assumptions: location-based unless that "
        "says otherwise. Making hardware, water and networks are left out.",
    )


def _grid_tables(grids: pl.DataFrame | None, kwh: r.Number | None) -> tuple[Table, ...]:
    if grids is None or grids.is_empty() or kwh is None:
        return ()
    latest = grids.sort("zone", "year").group_by("zone", maintain_order=True).last()
    factor = pl.col("carbon_gco2e_per_kwh").cast(pl.Float64)
    shown = latest.with_columns(
        factor.alias("grid_gco2e_per_kwh"),
        (factor * float(kwh) / pl.repeat(float(r.GRAMS_PER_KG), pl.len())).alias(
            "grid_carbon_kgco2e"
        ),
    ).sort("grid_gco2e_per_kwh", "zone")
    return (
        Table(
            "carbon_by_grid",
            "The same electricity on other grids, cleanest first",
            _GRID_COLUMNS,
            r.table_rows(shown, _GRID_COLUMNS),
            note="Latest year of each zone. To move the month to one of them, set `grid_zone` in "
            "the settings, or change the grid factor among the assumptions.",
            sheet="Carbon_grids",
        ),
    )


def _statements(mart: pl.DataFrame) -> tuple[str, ...]:
    known = mart.filter(pl.col("carbon_gco2e").is_not_null())
    if known.is_empty():
        return ("No request of the month has an energy, so none has carbon.",)
    row = known.row(0, named=True)
    part = r.share(row["carbon_gco2e"], r.known_sum(known, "carbon_gco2e"))
    kg = float(row["carbon_gco2e"]) / r.GRAMS_PER_KG
    return (
        f"Most carbon: {show(row['model_id'], 'text', 'unmapped')} · "
        f"{show(row['query_class'], 'text')}, {show(kg, 'kgco2e')} kg CO₂e, "
        f"{show(part, 'frac')} of the month's, at batch {show(row['batch'], 'number')}, "
        f"grade {row['evidence_grade']}.",
    )
