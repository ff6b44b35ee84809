"""The data sheets of the bridge: cells of this month and the one before, and their unit values.

The steps are sums of Data_Bridge: requests, tokens and moments are facts, what one of them is worth
is live, from Data_Bridge_prices and the rates of Data_Energy. Tokens and moments `then` are those
of this month's requests at the lengths of the month before, of the nearest cells that it had.
"""

import datetime as dt

import polars as pl

from pipeline.report.section import Kind
from pipeline.report.workbook.data import OFFER, BookData, Numbers
from pipeline.report.workbook.facility import FACILITY_RATIO
from pipeline.report.workbook.table import DataColumn, DataTable, number_format
from pipeline.report.workbook.usage import MOMENTS, PRICES, TOKEN_KINDS

MOST_CELLS = 10_000  # a formula of each looks at all
STEPS_OF_RUN = (
    f"Two months of more than {MOST_CELLS:,} cells (model, class, team): these steps are the run's "
    "and follow no input."
)
_WORDS_OF_ONE = {name: f"{name.removesuffix('_tokens')}_usd_per_token" for name in TOKEN_KINDS}
_REQUEST = "usd_per_request"
_RATES = (
    f"INDEX(d_energy[[{MOMENTS[0][1]}]:[{MOMENTS[-1][1]}]],MATCH({{key}},d_energy[group_no],0),0)"
)
_PRICES = (
    f"INDEX(d_bridge_price[[{_WORDS_OF_ONE[TOKEN_KINDS[0]]}]:[{_WORDS_OF_ONE[TOKEN_KINDS[-1]]}]],"
    "MATCH({key},d_bridge_price[offer_no],0),0)"
)
_PRICE_OF_REQUEST = f"INDEX(d_bridge_price[{_REQUEST}],MATCH({{key}},d_bridge_price[offer_no],0))"
_WHEN = {"before_": "of the month before", "then_": "of now's requests at lengths of then", "": ""}
_STEPS = {
    "before_": "The month before: its tokens or moments at their value then.",
    "at_mix_": "This month's requests at the mean value then, of class and team or the nearest.",
    "at_model_": "This month's requests at lengths, prices and rates of then.",
    "at_length_": "Tokens or moments of now, at prices and rates of then.",
    "": "Tokens or moments of now, at prices and rates of now.",
}
_FACTS: dict[str, tuple[str, str]] = {  # meaning, word where there is none
    "provider": ("Who served the requests.", "not stated"),
    "model_id": ("Model.", "unmapped"),
    "query_class": ("Class of work.", "none"),
    "team": ("Team.", "unattributed"),
    "class_no": ("Number of the class in this workbook.", "none"),
    "mix_no": ("Number of the class and team on this sheet.", "none"),
    "offer_before_no": ("Provider and model, the month before; see Data_Bridge_prices.", "none"),
    "offer_no": ("Provider and model, this month.", "none"),
    "price_no": ("Whose prices are those of then: a new model has its own of now.", "none"),
    "group_before_no": ("Line of Data_Energy, the month before.", "none"),
    "group_no": ("Line of Data_Energy, this month.", "none"),
    "rate_no": ("Whose rates are those of then: a new model has its own of now.", "none"),
    "cost_mix_base": ("Whose mean cost of a request then stands in the step of mix.", "none"),
    "facility_energy_mix_base": ("Whose mean electricity stands in the step of mix.", "none"),
}


def bridge_tables(data: BookData, numbers: Numbers) -> tuple[DataTable, ...]:
    """Return the data tables of the bridge, none where there is no month before or too many cells.

    A class or team cannot be folded here: shares of models and mix would be others than the mart's.
    """
    cells = data.frames.get("bridge_cells", pl.DataFrame())
    if not 0 < cells.height <= MOST_CELLS:
        return ()
    return _price_table(data, numbers), _cell_table(data, cells, numbers)


def _price_table(data: BookData, numbers: Numbers) -> DataTable:
    frame = data.frame("bridge_prices")
    prices = data.frame("prices").select("price_band_id", *PRICES)
    frame = frame.join(prices, on="price_band_id", how="left", maintain_order="left")
    listed = {t: t.replace("_tokens", "_list_usd") for t in TOKEN_KINDS}
    frame = frame.with_columns(
        *(
            (pl.col(tokens) * pl.col(price).cast(pl.Float64).fill_null(0) / 1e6).alias(
                listed[tokens]
            )
            for tokens, price in zip(TOKEN_KINDS, PRICES, strict=True)
        ),
        pl.Series(
            "offer_no", [numbers.offers[key] for key in frame.select(OFFER).rows()], pl.Int64
        ),
        pl.sum_horizontal(TOKEN_KINDS).alias("tokens"),
        pl.col("cost_usd").sum().over(OFFER).cast(pl.Float64).alias("offer_cost_usd"),
    )
    frame = frame.with_columns(pl.sum_horizontal(listed.values()).alias("list_usd")).with_columns(
        pl.col("list_usd").sum().over("offer_no").alias("offer_list_usd"),
        pl.col("tokens").sum().over("offer_no").alias("offer_tokens"),
    )
    has_band = frame.get_column("price_band_id").is_not_null().to_list()
    columns = [
        _fact(frame, name, meaning, unknown)
        for name, meaning, unknown in (
            ("month_start", "First day of the month.", "none"),
            ("provider", "Who served the requests.", "not stated"),
            ("model_id", "Model.", "unmapped"),
            ("offer_no", "Number of the month, provider and model.", "none"),
            ("price_band_id", "Line of Prices.", "no price"),
            ("request_count", "Requests of known cost.", "none"),
            *((name, "Tokens of requests of known cost.", "none") for name in TOKEN_KINDS),
        )
    ]
    columns += [
        DataColumn(
            listed[tokens],
            "usd",
            "These tokens at the price of their line of Prices; 0 without one.",
            frame.get_column(listed[tokens]).to_list(),
            f"SUMPRODUCT({{{tokens}}},INDEX(d_price[{price}],"
            "MATCH({price_band_id},d_price[price_band_id],0)))/tokens_per_mtok",
            has_band.__getitem__,
        )
        for tokens, price in zip(TOKEN_KINDS, PRICES, strict=True)
    ]
    columns += [
        _live(frame, name, meaning, formula)
        for name, meaning, formula in (
            ("tokens", "Tokens of this line.", f"SUM({{{TOKEN_KINDS[0]}}}:{{{TOKEN_KINDS[-1]}}})"),
            (
                "list_usd",
                "Tokens of this line at list price.",
                f"SUM({{{listed[TOKEN_KINDS[0]]}}}:{{{listed[TOKEN_KINDS[-1]]}}})",
            ),
            ("offer_tokens", "Tokens of the month, provider and model.", _of_offer("tokens")),
            ("offer_list_usd", "Their cost at list price.", _of_offer("list_usd")),
            (
                "offer_cost_usd",
                "Their cost that counts.",
                "SUMIFS(d_energy[cost_usd],d_energy[offer_no],{offer_no})",
            ),
        )
    ]
    columns += [
        _live(
            frame,
            _WORDS_OF_ONE[tokens],
            "What one such token cost: its list price, scaled to what was paid; without list "
            "price every token alike.",
            f"IF({{offer_list_usd}}>0,IF({_of_offer(tokens)}=0,0,{_of_offer(listed[tokens])}/"
            f"MAX({_of_offer(tokens)},1)*{{offer_cost_usd}}/{{offer_list_usd}}),"
            "IF({offer_tokens}>0,{offer_cost_usd}/{offer_tokens},0))",
            f"value_{tokens}",
        )
        for tokens in TOKEN_KINDS
    ]
    columns.append(
        _live(
            frame,
            _REQUEST,
            "What a request cost where there are no tokens to carry it.",
            "IF({offer_list_usd}+{offer_tokens}>0,0,{offer_cost_usd}/"
            f"MAX({_of_offer('request_count')},1))",
            "value_request",
        )
    )
    return DataTable(
        "d_bridge_price",
        "Data_Bridge_prices",
        "What did a token of each kind cost at each model, this month and the one before? A line "
        "for every price; values of one token are of the whole month, provider and model.",
        tuple(columns),
    )


def _cell_table(data: BookData, cells: pl.DataFrame, numbers: Numbers) -> DataTable:
    frame = _numbered(data, cells, numbers)
    counts = (
        ("priced_request_before_count", "Requests of known cost, the month before."),
        ("priced_request_count", "Requests of known cost, this month."),
        ("measured_request_before_count", "Requests with an energy, the month before."),
        ("measured_request_count", "Requests with an energy, this month."),
    )
    columns = [_fact(frame, name, *words) for name, words in _FACTS.items()]
    columns += [_fact(frame, name, meaning, "none") for name, meaning in counts]
    for what, names in (
        ("Tokens", TOKEN_KINDS),
        ("Moments", tuple(name for name, _ in MOMENTS)),
    ):
        columns += [
            _fact(frame, f"{when}{name}", f"{what} {words}".strip() + ".", "none")
            for when, words in _WHEN.items()
            for name in names
        ]
    columns += [
        _live(
            frame,
            name,
            _STEPS[step],
            formula,
            is_live=frame.get_column(key).is_not_null().to_list(),
        )
        for step in _STEPS
        for name, formula, key in (_cost_step(step), _energy_step(step))
    ]
    return DataTable(
        "d_bridge",
        "Data_Bridge",
        "What do this month and the one before come to, by model, class and team, after each step "
        "of Bridge? Its steps are sums of these columns.",
        tuple(columns),
    )


def _numbered(data: BookData, cells: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
    """Add to each cell the numbers of its prices and rates, of now and of the month before."""
    now = dt.date(int(data.month[:4]), int(data.month[5:7]), 1)
    then = (now - dt.timedelta(days=1)).replace(day=1)
    offers = cells.select("provider", "model_id").rows()
    groups = cells.select("provider", "model_id", "query_class").rows()
    mixes = cells.select("query_class", "team").unique().sort("query_class", "team").rows()
    mix_numbers = {mix: number for number, mix in enumerate(mixes, start=1)}
    has = {
        "offer_before_no": pl.col("priced_request_before_count") > 0,
        "offer_no": pl.col("priced_request_count") > 0,
        "group_before_no": pl.col("measured_request_before_count") > 0,
        "group_no": pl.col("measured_request_count") > 0,
    }
    found = {
        "offer_before_no": [numbers.offers.get((then, *key)) for key in offers],
        "offer_no": [numbers.offers.get((now, *key)) for key in offers],
        "group_before_no": [numbers.groups.get((then, *key)) for key in groups],
        "group_no": [numbers.groups.get((now, *key)) for key in groups],
    }
    frame = cells.with_columns(
        *(pl.Series(name, values, pl.Int64) for name, values in found.items()),
        pl.Series("class_no", [numbers.classes[key[2]] for key in groups], pl.Int64),
        pl.Series(
            "mix_no",
            [mix_numbers[key] for key in cells.select("query_class", "team").rows()],
            pl.Int64,
        ),
    )
    priced_then = pl.when(pl.col("is_cost_new")).then("offer_no").otherwise("offer_before_no")
    rated_then = (
        pl.when(pl.col("is_facility_energy_new")).then("group_no").otherwise("group_before_no")
    )
    return frame.with_columns(
        pl.when(has["offer_no"]).then(priced_then).alias("price_no"),
        pl.when(has["group_no"]).then(rated_then).alias("rate_no"),
    ).with_columns(pl.when(condition).then(name).alias(name) for name, condition in has.items())


def _cost_step(step: str) -> tuple[str, str, str]:
    """Return the column of a step in money, its formula, and the number that it needs."""
    key = {"before_": "offer_before_no", "": "offer_no"}.get(step, "price_no")
    name = f"cost_{step}usd"
    if step == "at_mix_":
        return name, _at_mean("cost", "cost_before_usd", "priced"), key
    when = {"before_": "before_", "at_model_": "then_"}.get(step, "")
    requests = f"{{priced_request_{'before_' if step == 'before_' else ''}count}}"
    tokens = f"{{{when}{TOKEN_KINDS[0]}}}:{{{when}{TOKEN_KINDS[-1]}}}"
    placed = f"{{{key}}}"
    formula = (
        f"SUMPRODUCT({tokens},{_PRICES.replace('{key}', placed)})"
        f"+{requests}*{_PRICE_OF_REQUEST.replace('{key}', placed)}"
    )
    return name, formula, key


def _energy_step(step: str) -> tuple[str, str, str]:
    key = {"before_": "group_before_no", "": "group_no"}.get(step, "rate_no")
    name = f"facility_energy_{step}kwh"
    if step == "at_mix_":
        return name, _at_mean("facility_energy", "facility_energy_before_kwh", "measured"), key
    when = {"before_": "before_", "at_model_": "then_"}.get(step, "")
    moments = f"{{{when}{MOMENTS[0][0]}}}:{{{when}{MOMENTS[-1][0]}}}"
    rates = _RATES.replace("{key}", f"{{{key}}}")
    return name, f"SUMPRODUCT({moments},{rates})*{FACILITY_RATIO}/j_per_kwh", key


def _at_mean(stem: str, value: str, counted: str) -> str:
    """Return requests at the mean value then: of their class and team, of the class, or of all."""
    values, counts = f"d_bridge[{value}]", f"d_bridge[{counted}_request_before_count]"

    def mean(column: str) -> str:
        of = f"d_bridge[{column}],{{{column}}}"
        return f"SUMIFS({values},{of})/SUMIFS({counts},{of})"

    return (
        f'{{{counted}_request_count}}*IF({{{stem}_mix_base}}="all",SUM({values})/SUM({counts}),'
        f'IF({{{stem}_mix_base}}="class",{mean("class_no")},{mean("mix_no")}))'
    )


def _of_offer(column: str) -> str:
    return f"SUMIFS(d_bridge_price[{column}],d_bridge_price[offer_no],{{offer_no}})"


def _fact(frame: pl.DataFrame, name: str, meaning: str, unknown: str) -> DataColumn:
    kind: Kind = "count" if frame.schema[name].is_numeric() else "text"
    if frame.schema[name] == pl.Date:
        kind = "date"
    return DataColumn(name, kind, meaning, frame.get_column(name).to_list(), unknown=unknown)


def _live(
    frame: pl.DataFrame,
    name: str,
    meaning: str,
    formula: str,
    source: str = "",
    is_live: list[bool] | None = None,
) -> DataColumn:
    is_whole = name.endswith("tokens") and "_per_" not in name
    kind: Kind = "count" if is_whole else "usd" if name.endswith("_usd") else "number"
    return DataColumn(
        name,
        kind,
        meaning,
        frame.get_column(source or name).to_list(),
        formula,
        is_live.__getitem__ if is_live else None,
        unknown="none",
        number_format="" if kind != "number" else _format(name),
    )


def _format(name: str) -> str:
    return "0.000E+00" if "_per_" in name else number_format(name.replace("_before", ""))
