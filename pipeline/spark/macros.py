"""What DuckDB has and Spark spells differently: a Spark expression for each such macro.

Names and arguments are those of the macros in `pipeline/warehouse.py`. All other macros there and
all laws are transpiled as they stand.
"""

SPARK_MACROS: dict[str, str] = {
    "microseconds_of(x)": "unix_micros(cast(x as timestamp))",
    "time_of_microseconds(x)": "cast(timestamp_micros(x) as timestamp_ntz)",
    "time_after(x, seconds)": """cast(
        timestamp_micros(
            unix_micros(cast(x as timestamp)) + cast(round(seconds * 1000000) as bigint)
        ) as timestamp_ntz
    )""",
    "microseconds_between(first_at, last_at)": (
        "unix_micros(cast(last_at as timestamp)) - unix_micros(cast(first_at as timestamp))"
    ),
    "local_day(x, zone)": """cast(
        case when zone = 'UTC' then x else convert_timezone('UTC', zone, x) end as date
    )""",
    "days_between(first, last)": "datediff(last, first)",
    "weekday_of(x)": "weekday(x) + 1",
    "month_start(x)": "cast(concat(x, '-01') as date)",
    "days_in_month(x)": "day(last_day(cast(concat(x, '-01') as date)))",
    "month_after(x)": "date_format(add_months(cast(concat(x, '-01') as date), 1), 'yyyy-MM')",
    "safe_text(x)": r"""case
        when rlike(x, '^[=+\\-@\\t\\r\\n]') then concat('\'', x) else x
    end""",
    "listed_sets(coefficient_set_id)": (
        "nullif(array_join(array_sort(collect_set(coefficient_set_id)), ', '), '')"
    ),
    "interpolated_quantile(x, share)": "percentile(cast(x as double), share)",
    "quantiles_50_90(x)": "percentile(cast(x as double), array(0.5, 0.9))",
    "quantiles_10_50_90(x)": "percentile(cast(x as double), array(0.1, 0.5, 0.9))",
    "nth_of(quantiles, n)": "element_at(quantiles, n)",
}
