"""Columns that several tables share, so that one quantity has one head and one meaning."""

from pipeline.report.section import Column

MODEL = Column(
    "model_id",
    "Model",
    "text",
    meaning="Model as named in the catalog.",
    unknown="unmapped",
)
PROVIDER = Column(
    "provider",
    "Provider",
    "text",
    meaning="Who served the requests.",
    unknown="not stated",
)
QUERY_CLASS = Column(
    "query_class",
    "Class",
    "text",
    meaning="Kind of work, as the log says or as the shape of the request shows.",
)
TEAM = Column(
    "team",
    "Team",
    "text",
    meaning="Team of the request; requests without one are kept on a line of their own.",
    unknown="unattributed",
)
REQUESTS = Column("request_count", "Requests", "count", meaning="Requests of the month.")
TASKS = Column(
    "task_count",
    "Tasks",
    "count",
    meaning="Tasks: a trace, session or ticket where the log names one, else the request.",
)
SOLVED = Column(
    "solved_task_count",
    "Solved tasks",
    "count",
    meaning="Tasks the log marks as solved; an unknown outcome never counts as solved.",
)
UNPRICED = Column(
    "unpriced_request_count",
    "Unpriced requests",
    "count",
    meaning="Requests without a price; their cost is missing from every sum.",
)
NO_GPU_BILL = Column(
    "no_gpu_bill_request_count",
    "Without a GPU bill",
    "count",
    meaning="Requests of own servers whose GPU bill is not given; their cost is in no sum.",
)
UNMEASURED = Column(
    "unmeasured_request_count",
    "Unmeasured requests",
    "count",
    meaning="Requests without an energy; their joules are missing from every sum.",
)
COST = Column(
    "cost_usd",
    "Cost",
    "usd",
    "USD",
    meaning="As billed where the log says so, else at contract or list price, else GPU bill.",
    unknown="unpriced",
)
LIST_COST = Column(
    "list_cost_usd",
    "List cost",
    "usd",
    "USD",
    meaning="Tokens at the public list price of their day.",
    unknown="unpriced",
)
CONTRACTED_COST = Column(
    "contracted_cost_usd",
    "Contracted cost",
    "usd",
    "USD",
    meaning="Tokens at the company's contract, at the list price where it has none.",
    unknown="unpriced",
)
EFFECTIVE_COST = Column(
    "effective_cost_usd",
    "Effective cost",
    "usd",
    "USD",
    meaning="Share of a commitment where one covers the requests, else contracted cost.",
    unknown="unpriced",
)
HOSTING_COST = Column(
    "hosting_cost_usd",
    "GPU bill",
    "usd",
    "USD",
    meaning="Share of the GPU bill of own servers; idle hours are a line of their own.",
    unknown="none",
)
HOSTING_ENERGY_COST = Column(
    "hosting_energy_cost_usd",
    "Electricity beside it",
    "usd",
    "USD",
    meaning="Electricity at tariff, where the GPU bill leaves it out; part of the cost.",
    unknown="none",
)
BILLED_COST = Column(
    "billed_cost_usd",
    "Billed cost",
    "usd",
    "USD",
    meaning="Cost as the provider billed it, where the log carries it.",
    unknown="not in log",
)
ENERGY_COST = Column(
    "energy_cost_usd",
    "Electricity at tariff",
    "usd",
    "USD",
    meaning="Facility electricity at the assumed tariff: a memo line, part of no total.",
    unknown="unmeasured",
)
FACILITY = Column(
    "facility_energy_kwh",
    "Electricity",
    "kwh",
    "kWh",
    meaning="GPU energy with host, idle capacity and cooling: what the facility draws.",
    unknown="unmeasured",
)
FACILITY_LOW = Column(
    "facility_energy_low_kwh",
    "Electricity, low",
    "kwh",
    "kWh",
    meaning="Low end (5 %) of the electricity.",
)
FACILITY_HIGH = Column(
    "facility_energy_high_kwh",
    "Electricity, high",
    "kwh",
    "kWh",
    meaning="High end (95 %) of the electricity.",
)
TASK_LOW = Column(
    "low_j_per_task", "Low", "j", "J", meaning="Low end (5 %) of the GPU energy per task."
)
TASK_HIGH = Column(
    "high_j_per_task", "High", "j", "J", meaning="High end (95 %) of the GPU energy per task."
)
CARBON = Column(
    "carbon_kgco2e",
    "Carbon",
    "kgco2e",
    "kg CO₂e",
    meaning="Electricity times the grid factor among the assumptions.",
    unknown="unmeasured",
)
BATCH = Column(
    "batch",
    "Batch",
    "number",
    meaning="Requests served together; it moves the energy by 10 to 100 times.",
)
GRADE = Column(
    "evidence_grade",
    "Grade",
    "grade",
    meaning="Evidence behind the energy, from A (measured alike) to D (stand-in), U unknown.",
)
COEFFICIENTS = Column(
    "coefficient_set_id",
    "Coefficients",
    "text",
    meaning="Set of law coefficients, fitted per GPU and serving stack.",
)
