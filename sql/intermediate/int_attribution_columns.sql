-- Which names any row of the company's attribution asks for: only those are looked at.
-- grain: is_told

select
    (count(*) > 0)::boolean as is_told,
    (count(stg_attribution.api_key_id) > 0)::boolean as by_api_key,
    (count(stg_attribution.user_id) > 0)::boolean as by_user,
    (count(stg_attribution.route) > 0)::boolean as by_route,
    (count(stg_attribution.logged_project) > 0)::boolean as by_project,
    (count(stg_attribution.logged_team) > 0)::boolean as by_team,
    (count(stg_attribution.model_name) > 0)::boolean as by_model_name,
    (count(stg_attribution.provider) > 0)::boolean as by_provider
from stg_attribution
