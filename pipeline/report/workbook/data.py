"""The data sheets of usage, cost and prices: what every figure of the workbook is summed from.

Rows are long and carry numbers for their month, model, class and team: formulas match those
numbers, since a name from a log could be read as a condition or a wildcard. Above `MOST_ROWS` the
grain coarsens, from days to months, then small teams into one line, and the sheet says so; sums
always tie, since cost and energy are linear in what is summed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import polars as pl

from pipeline.report.section import Value
from pipeline.report.workbook.facility import facility_kwh
from pipeline.report.workbook.table import DataColumn, DataTable
from pipeline.report.workbook.usage import (
    BESIDE_BILL,
    MEANINGS,
    MOMENTS,
    PRICES,
    TOKEN_KINDS,
    kind_of,
    rate_source,
    usage_columns,
)

MOST_ROWS = 100_000
MOST_TEAMS = 2_000  # lines on Teams
PRICE_UNIT = "_usd_per_mtok"
_CONTRACTED = "contracted_"
_NO_LIMIT = 1_000_000_000_000  # tokens of a prompt: how a price without limit is written
OTHER_TEAMS = 0  # the number of the line that small teams share

# Costs that some requests have and others lack: these are never in one row, whose formulas hold
# for all that it sums.
_APART = ("contracted_cost_usd", "committed_cost_usd", "hosting_cost_usd")
_KEYS = ("provider", "model_id", "query_class", "team", "price_band_id", "is_billed")
GROUP = ("month_start", "provider", "model_id", "query_class")
OFFER = GROUP[:3]  # a model at a provider in a month


@dataclass(frozen=True)
class BookData:
    """What the workbook computes from, as the pipeline left it: frames by name.

    `usage`, `costs`, `groups` (with energies and rates), `work`, `prices`, `coefficients`,
    `bias_factors`, and for the calculator `models`, `architectures`, `gpus`, `list_prices`.
    """

    month: str
    frames: Mapping[str, pl.DataFrame]
    grain: tuple[str, ...]  # what names a line of usage in a month
    issued_usd: Mapping[str, Decimal] = field(default_factory=dict)  # cost by file beside it

    def frame(self, name: str) -> pl.DataFrame:
        """Return one frame, numbered."""
        return self.frames[name]


@dataclass(frozen=True)
class Numbers:
    """The numbers that stand for names in formulas."""

    groups: Mapping[tuple[Value, ...], int]  # (month, provider, model, class) → number
    offers: Mapping[tuple[Value, ...], int]  # (month, provider, model) → number
    models: Mapping[Value, int]
    classes: Mapping[Value, int]
    teams: Mapping[Value, int]
    costs: frozenset[str] = frozenset()  # columns of money that Data_Cost has

    @property
    def small_team_count(self) -> int:
        """Return how many teams share one line, because lines of their own would not fit."""
        return sum(number == OTHER_TEAMS for number in self.teams.values())


def numbers_of(data: BookData, most_rows: int = MOST_ROWS) -> Numbers:
    """Return a number for every line, model, class and team, in the order of their names."""
    costs, groups = data.frame("costs"), data.frame("groups")
    keys = _distinct(pl.concat([costs.select(GROUP), groups.select(GROUP)]))
    kept = _kept_teams(costs, most_rows)
    teams = _numbered(costs, "team")
    return Numbers(
        groups={row: number for number, row in enumerate(keys.rows(), start=1)},
        offers={
            row: number for number, row in enumerate(_distinct(keys.select(OFFER)).rows(), start=1)
        },
        models=_numbered(keys, "model_id"),
        classes=_numbered(keys, "query_class"),
        teams={team: n if team in kept else OTHER_TEAMS for team, n in teams.items()},
        costs=frozenset(name for name in costs.columns if name.endswith("_usd")),
    )


def usage_table(data: BookData, numbers: Numbers, most_rows: int = MOST_ROWS) -> DataTable:
    """Return usage by day, or by month where days would be too many rows."""
    frame = _lines(data, "usage", numbers)
    note = ""
    if frame.height > most_rows or numbers.small_team_count:
        frame = _summed(frame.drop("day"))
        note = f"Days would be more than {most_rows:,} rows, so usage is summed by month. "
    return DataTable(
        "d_usage",
        "Data_Usage",
        f"What was used on each {'month' if note else 'day'}, by model, class and team? "
        f"{note}{_team_note(numbers)}Every row has its list cost and its energy.",
        usage_columns(frame),
    )


def cost_table(data: BookData, numbers: Numbers) -> DataTable:
    """Return usage and cost by month, from which money and the teams' energies are summed."""
    return DataTable(
        "d_cost",
        "Data_Cost",
        "What did the use of each month cost, by model, class, team and price? "
        f"{_team_note(numbers)}Summary, Teams and Cost_per_task add these rows up.",
        usage_columns(_lines(data, "costs", numbers)),
    )


def price_table(data: BookData) -> DataTable:
    """Return the prices that usage fell under; those of list and contract may be changed."""
    always, never = pl.datetime(1900, 1, 1), pl.datetime(9999, 1, 1)
    frame = data.frame("prices").with_columns(
        pl.when(pl.col("valid_from") > always).then("valid_from").cast(pl.Date),
        pl.when(pl.col("valid_to") < never).then("valid_to").cast(pl.Date),
        pl.when(pl.col("input_tokens_to") < _NO_LIMIT).then("input_tokens_to"),
    )
    none_agreed = [not has_contract for has_contract in frame.get_column("has_contract").to_list()]
    words = {"valid_from": "always", "valid_to": "open", "input_tokens_to": "no limit"}
    columns = [
        DataColumn(
            name,
            "usd_small" if name.endswith(PRICE_UNIT) else kind_of(name, frame),
            MEANINGS.get(name, f"{name.replace('_', ' ').capitalize()} of this line of prices."),
            frame.get_column(name).to_list(),
            _same_as_list(name),
            none_agreed.__getitem__ if _same_as_list(name) else None,
            unknown=words.get(name, "unpriced" if name.endswith(PRICE_UNIT) else "unknown"),
            is_input=name.endswith(PRICE_UNIT),
            number_format="#,##0.00####" if name.endswith(PRICE_UNIT) else "",
        )
        for name in frame.columns
    ]
    return DataTable(
        "d_price",
        "Prices",
        "Which prices hold by list and contract, in USD a million tokens? Change a blue price and "
        "costs follow.",
        tuple(columns),
    )


def _same_as_list(name: str) -> str:
    """Return the formula of a contracted price where there is no contract: the list price."""
    return f"{{{name.removeprefix(_CONTRACTED)}}}" if name.startswith(_CONTRACTED) else ""


def _lines(data: BookData, name: str, numbers: Numbers) -> pl.DataFrame:
    """Return lines of usage, priced and numbered, small teams in one, further keys summed over."""
    frame = _priced(_with_numbers(data.frame(name), numbers), data)
    apart = [name for name in _APART if name in frame.columns]
    frame = _folded(frame.with_columns(pl.col(apart).is_not_null().name.prefix("has_")))
    further = [key for key in data.grain if key not in _KEYS]
    frame = _summed(frame.drop(further)) if further else frame
    return _beside_bills(frame.drop(f"has_{name}" for name in apart), data)


def _beside_bills(frame: pl.DataFrame, data: BookData) -> pl.DataFrame:
    """Add which part of its electricity each row pays beside its GPU bill, where some do.

    The pipeline rounds each group's electricity, so the part is 1 but for that.
    """
    beside = "hosting_energy_cost_usd"
    if beside not in frame.columns or not frame.get_column(beside).count():
        return frame
    assumed = dict(data.frame("assumptions").select("assumption", "value").rows())
    usd_per_j = facility_kwh(1, assumed) * assumed["electricity_usd_per_kwh"]
    whole = pl.col("gpu_energy_j") * usd_per_j
    part = pl.when(whole > 0).then(pl.col(beside).cast(pl.Float64) / whole).otherwise(1.0)
    has_part = pl.col(beside).is_not_null()
    return frame.with_columns(pl.when(has_part).then(part).alias(BESIDE_BILL))


def _priced(frame: pl.DataFrame, data: BookData) -> pl.DataFrame:
    """Add each row's cost at list price and its energy, exactly as the pipeline computes them."""
    if "list_cost_usd" not in frame.columns:
        prices = data.frame("prices").select("price_band_id", *PRICES)
        joined = frame.join(prices, on="price_band_id", how="left", maintain_order="left")
        cost = sum(
            (
                pl.col(tokens).fill_null(0).cast(pl.Float64) * pl.col(price).cast(pl.Float64)
                for tokens, price in zip(TOKEN_KINDS, PRICES, strict=True)
            ),
            pl.lit(0.0),
        )
        line = ["month_start", *data.grain]
        is_known = pl.col("uncached_input_tokens").is_not_null().any().over(line)
        frame = joined.with_columns(pl.when(is_known).then(cost * 1e-6).alias("list_cost_usd"))
        frame = frame.drop(PRICES)
    frame = frame.with_columns(pl.col("list_cost_usd").is_not_null().alias("is_listed"))
    rates = data.frame("groups").select(*GROUP, *sorted({rate_source(rate) for _, rate in MOMENTS}))
    joined = frame.join(rates, on=GROUP, how="left", nulls_equal=True, maintain_order="left")
    energy = sum((pl.col(m) * pl.col(rate_source(rate)) for m, rate in MOMENTS), pl.lit(0.0))
    return joined.with_columns(energy.alias("gpu_energy_j")).select(*frame.columns, "gpu_energy_j")


def _with_numbers(frame: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
    groups = frame.select(GROUP).rows()
    return frame.with_columns(
        pl.Series("group_no", [numbers.groups[key] for key in groups], pl.Int64),
        pl.Series("model_no", [numbers.models[key[2]] for key in groups], pl.Int64),
        pl.Series("class_no", [numbers.classes[key[3]] for key in groups], pl.Int64),
        pl.Series("team_no", [numbers.teams[t] for t in frame["team"].to_list()], pl.Int64),
    )


def _folded(frame: pl.DataFrame) -> pl.DataFrame:
    """Put the rows of small teams into one line of `other teams` for each of the other keys."""
    if not (frame.get_column("team_no") == OTHER_TEAMS).any():
        return frame
    is_other = pl.col("team_no") == OTHER_TEAMS
    other = pl.when(is_other).then(pl.lit("other teams, summed")).otherwise("team")
    return _summed(frame.with_columns(other.alias("team")))


def _summed(frame: pl.DataFrame) -> pl.DataFrame:
    """Add up what may be added, by all the rest; the order of rows stays that of the keys."""
    ends = ("_count", "_tokens", "_usd", "_j", *(name for name, _ in MOMENTS))
    summed = [name for name in frame.columns if name.endswith(ends)]
    keys = [name for name in frame.columns if name not in summed]
    totals = [
        pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name) for name in summed
    ]
    return frame.group_by(keys).agg(totals).sort(keys, nulls_last=True).select(frame.columns)


def _kept_teams(costs: pl.DataFrame, most_rows: int) -> set[Value]:
    """Return the teams that keep lines of their own: the largest, while rows fit."""
    teams = costs.group_by("team").agg(
        pl.len().alias("rows"), pl.col("request_count").sum().alias("requests")
    )
    if costs.height <= most_rows and teams.height <= MOST_TEAMS:
        return set(teams.get_column("team").to_list())
    ordered = teams.sort(["requests", "team"], descending=[True, False], nulls_last=True)
    room = most_rows - costs.select(GROUP, "price_band_id", "is_billed").n_unique()
    fits = ordered.head(MOST_TEAMS).filter(pl.col("rows").cum_sum() <= max(room, 0))
    return set(fits.get_column("team").to_list())


def _team_note(numbers: Numbers) -> str:
    small = numbers.small_team_count
    return f"The {small:,} smallest teams share one line. " if small else ""


def _distinct(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.unique().sort(frame.columns, nulls_last=True)


def _numbered(frame: pl.DataFrame, name: str) -> dict[Value, int]:
    values: Sequence[Value] = _distinct(frame.select(name)).get_column(name).to_list()
    return {value: number for number, value in enumerate(values, start=1)}
