"""The invented company: its months, teams, models and workloads."""

from dataclasses import dataclass
from datetime import date

from pipeline.sample.dice import LogNormal

MONTHS = (date(2026, 9, 1), date(2026, 10, 1))

OFFICE_WEEK = (1.0, 1.05, 1.0, 0.95, 0.85, 0.2, 0.15)
SHOP_WEEK = (1.1, 1.0, 0.95, 0.95, 1.0, 0.6, 0.5)
OFFICE_HOURS = (1, 1, 1, 1, 2, 5, 14, 34, 52, 60, 58, 46, 42, 56, 58, 52, 40, 24, 12, 8, 5, 3, 2, 1)
SHOP_HOURS = (
    6, 4, 3, 3, 4, 8, 16, 28, 38, 44, 46, 48, 46, 44, 44, 42, 40, 40, 42, 40, 34, 26, 16, 9,
)  # fmt: skip


@dataclass(frozen=True)
class Rhythm:
    """When a workload runs: weight of each weekday (Monday first) and hour; run days if not all."""

    weekday_weights: tuple[float, ...]
    hour_weights: tuple[int, ...]
    month_days: tuple[int, ...] = ()


OFFICE = Rhythm(OFFICE_WEEK, OFFICE_HOURS)
SHOP = Rhythm(SHOP_WEEK, SHOP_HOURS)
NIGHT_RUN = Rhythm((1.0,) * 7, (0, 0, 1, *(0,) * 21), month_days=(5, 15, 25))
NIGHTLY = Rhythm((1.0,) * 7, (0, 3, 4, 2, *(0,) * 20))


@dataclass(frozen=True)
class Model:
    """A model as one provider sells it or as the company hosts it.

    thinking_tokens is the median of hidden reasoning in everyday answers (0: does not think).
    cache says how the host reports cached input: blocks (of 128, from 1,024), implicit (now and
    then), prefix (vLLM, blocks of 16), explicit (read and write), none, unknown (not reported).
    skill scales how many tasks end solved.
    """

    provider: str
    name: str
    group: str
    tokens_per_s: float
    first_token_ms: int
    thinking_tokens: int
    cache: str
    skill: float


GPT_5 = Model("openai", "gpt-5", "gpt-5", 62, 900, 260, "blocks", 1.0)
GPT_5_MINI = Model("openai", "gpt-5-mini", "gpt-5-mini", 105, 600, 110, "blocks", 0.93)
GPT_FINE_TUNED = Model("openai", "ft:gpt-4o:acme", "acme-tone", 80, 500, 0, "none", 0.9)
SONNET = Model("anthropic", "claude-sonnet-4-5", "claude-sonnet", 68, 1100, 0, "explicit", 1.0)
OPUS = Model("anthropic", "claude-opus-4-8", "claude-opus", 54, 1400, 0, "explicit", 1.0)
GEMINI = Model("gemini", "gemini-2.5-flash", "gemini-flash", 190, 450, 70, "implicit", 0.94)
LLAMA_70B_NOVITA = Model(
    "novita", "meta-llama/llama-3.3-70b-instruct", "llama-70b", 42, 700, 0, "none", 0.86
)
DEEPSEEK_NOVITA = Model("novita", "deepseek/deepseek_v3", "deepseek-v3", 36, 1200, 0, "none", 0.92)
LLAMA_70B_TOGETHER = Model(
    "together_ai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-70b", 88, 500, 0, "none", 0.86
)
GPT_OSS_TOGETHER = Model(
    "together_ai", "openai/gpt-oss-120b", "gpt-oss", 150, 450, 90, "none", 0.92
)
ACME_7B = Model("hosted_vllm", "acme-internal-7b", "acme-internal-7b", 70, 200, 0, "none", 0.7)
QWEN_32B = Model("vllm", "Qwen/Qwen3-32B", "qwen3-32b", 44, 120, 0, "prefix", 0.9)
LLAMA_8B = Model("vllm", "meta-llama/Llama-3.1-8B", "llama-8b", 140, 35, 0, "unknown", 0.8)
GPT_OSS = Model("vllm", "openai/gpt-oss-120b", "gpt-oss", 120, 90, 90, "prefix", 0.92)


@dataclass(frozen=True)
class Workload:
    """What one team sends to one of the two gateways for one purpose.

    turns is the number of requests of a task; prefix_tokens the instructions all requests share;
    the fracs say how often the class is tagged, the task has a ticket, and a try fails.
    load stretches the time per token where many requests run together. solved_frac is the share
    of tasks a model of skill 1 solves (0: nobody writes outcomes down).
    """

    name: str
    team: str | None
    project: str
    query_class: str
    models: tuple[tuple[Model, float], ...]
    tasks: tuple[int, int]
    rhythm: Rhythm
    turns: LogNormal
    prefix_tokens: int
    class_said_frac: float
    ticket_frac: float
    failed_frac: float
    load: float = 1.0
    solved_frac: float = 0.88


CODING_SESSIONS = (46, 54)
ONE_TURN = LogNormal(1, 0, 1, 1)
FEW_TURNS = LogNormal(1.9, 0.55, 1, 7)
AGENT_TURNS = LogNormal(9, 0.5, 3, 30)

LITELLM_WORKLOADS = (
    Workload("helpdesk-chat", "support", "helpdesk", "chat",
             ((GPT_5_MINI, 5), (GEMINI, 4), (LLAMA_70B_NOVITA, 5), (LLAMA_70B_TOGETHER, 1.5)),
             (1560, 1690), SHOP, FEW_TURNS, 380, 0.6, 0.8, 0.02),
    Workload("helpdesk-agent", "support", "helpdesk", "agentic", ((SONNET, 3), (GPT_5, 2)),
             (88, 104), SHOP, AGENT_TURNS, 6200, 0.4, 1.0, 0.015),
    Workload("thread-digest", "support", "helpdesk", "summarization",
             ((GEMINI, 4), (LLAMA_70B_NOVITA, 2)),
             (620, 660), SHOP, ONE_TURN, 300, 0.5, 0.2, 0.015),
    Workload("ticket-router", "support", "helpdesk", "other", ((GPT_5_MINI, 1),),
             (420, 450), SHOP, ONE_TURN, 0, 0.5, 0.0, 0.01),
    Workload("site-answers", "search", "answers", "rag",
             ((GPT_5_MINI, 4), (GEMINI, 4), (LLAMA_70B_NOVITA, 3), (GPT_OSS_TOGETHER, 3)),
             (2150, 2330), SHOP, ONE_TURN, 1400, 0.6, 0.1, 0.015),
    Workload("design-help", "engineering", "platform", "reasoning",
             ((GPT_5, 4), (GPT_OSS_TOGETHER, 2)), (390, 420), OFFICE, ONE_TURN, 0, 0.4, 0.5, 0.03),
    Workload("close-questions", "finance-ops", "month-close", "reasoning", ((GPT_5, 1),),
             (150, 165), OFFICE, ONE_TURN, 0, 0.6, 0.6, 0.03),
    Workload("contract-digest", "finance-ops", "contracts", "summarization",
             ((SONNET, 3), (DEEPSEEK_NOVITA, 3), (GEMINI, 2)),
             (380, 420), OFFICE, ONE_TURN, 300, 0.7, 0.3, 0.015),
    Workload("receipt-fields", "finance-ops", "expenses", "batch_extraction",
             ((GEMINI, 3), (GPT_5_MINI, 1)), (430, 470), NIGHTLY, ONE_TURN, 600, 0.8, 0.0, 0.01),
    Workload("tone-trial", "support", "helpdesk", "chat", ((GPT_FINE_TUNED, 1),),
             (9, 11), SHOP, ONE_TURN, 380, 0.0, 0.0, 0.0, solved_frac=0),
    Workload("own-model-trial", "engineering", "platform", "other", ((ACME_7B, 1),),
             (14, 16), OFFICE, ONE_TURN, 0, 0.0, 0.0, 0.0, solved_frac=0),
    Workload("nobody", None, "", "chat", ((GPT_5_MINI, 1),),
             (12, 14), OFFICE, ONE_TURN, 200, 0.0, 0.0, 0.0, solved_frac=0),
)  # fmt: skip

GATEWAY_WORKLOADS = (
    Workload("editor-completion", "engineering", "editor", "code_completion", ((LLAMA_8B, 1),),
             (2500, 1100), OFFICE, ONE_TURN, 0, 0.5, 0.0, 0.004, solved_frac=0.45),
    Workload("docs-search", "search", "docs", "rag", ((QWEN_32B, 1),),
             (880, 960), OFFICE, ONE_TURN, 1400, 0.6, 0.2, 0.01),
    Workload("staff-chat", "support", "staff-help", "chat", ((QWEN_32B, 3), (LLAMA_8B, 1)),
             (360, 390), OFFICE, FEW_TURNS, 380, 0.4, 0.5, 0.01),
    Workload("invoice-lines", "finance-ops", "invoices", "batch_extraction", ((GPT_OSS, 1),),
             (1080, 1170), NIGHT_RUN, ONE_TURN, 700, 0.7, 1.0, 0.01, load=8.0),
    Workload("code-review", "engineering", "platform", "reasoning", ((GPT_OSS, 3), (QWEN_32B, 1)),
             (250, 270), OFFICE, ONE_TURN, 500, 0.5, 0.7, 0.02, load=1.5),
)  # fmt: skip
