-- The price bands that usage of the workbook's months fell into, by the five kinds of tokens.
-- grain: price_band_id

select distinct
    bands.price_band_id,
    bands.provider,
    bands.price_model,
    bands.service_tier,
    nullif(bands.valid_from, '1900-01-01'::timestamp)::date as valid_from,
    nullif(bands.valid_to, '9999-01-01'::timestamp)::date as valid_to,
    bands.input_tokens_from,
    nullif(bands.input_tokens_to, 1000000000000) as input_tokens_to,
    bands.uncached_input_usd_per_mtok,
    bands.cache_read_usd_per_mtok,
    bands.cache_write_5m_usd_per_mtok,
    bands.cache_write_1h_usd_per_mtok,
    bands.output_usd_per_mtok
from int_price_bands as bands
inner join int_usage_groups as usage on bands.price_band_id = usage.price_band_id
where usage.month <= getvariable('report_month')
order by bands.price_band_id
