-- severity: warn
-- meaning: a class in the log that is none of the listed ones is replaced by the rules on shape

select
    stg_usage.logged_query_class,
    count(*) as row_count
from stg_usage
left join raw_query_classes on lower(stg_usage.logged_query_class) = raw_query_classes.query_class
where stg_usage.logged_query_class is not null and raw_query_classes.query_class is null
group by all
order by row_count desc, stg_usage.logged_query_class asc
