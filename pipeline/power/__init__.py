"""What caps and clock locks do: one power log a policy in, verdicts and factors out.

`policies` reads logs and runs, `phases` cuts runs into prefill and decode, `readings` says what
each drew and at which clock, `bound` whether a cap bound, `workload` whether policies may be
compared, `effects` what a policy changes, `front` which settings are worth a thought, and `answer`
is the whole. Reading runs and integrating power belong to `pipeline.audit`.
"""
