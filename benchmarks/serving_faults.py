"""Thousands of requests, right and wrong, generated from the description of the interface.

python benchmarks/serving_faults.py MODEL --cases 10000

Starts `dragoman serve` and lets Schemathesis make requests for each operation, with values within
the schema, at its edges and beyond. No answer may be a server error, have a status or a form that
the description does not name, or be missing. Prints the cases of each operation, and exits with 1
if there was a failure.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import booleans
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving_process import serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
VARIED = {"parameters", "requestBody"}
SERVED = {"source": "en", "target": "it", "source_lang": "EN", "target_lang": "IT"}


def main() -> None:
    """Try all operations."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--cases", type=int, default=10_000)
    options = parser.parse_args()
    statuses: Counter[int] = Counter()
    num_failures = 0
    with serving(options.model) as server:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
        operations = [result.ok() for result in schema.get_all_operations()]
        # An operation without a field has one case.
        num_varied = sum(bool(o.definition.raw.keys() & VARIED) for o in operations)
        before = server.memory()
        for operation in operations:
            seen: Counter[int] = Counter()
            try:
                _try(operation, -(-options.cases // num_varied), seen)
            except AssertionError as failure:  # Hypothesis has shortened it
                num_failures += 1
                print(f"FAILED {operation.label}: {failure}")
            print(f"{operation.label}: {sum(seen.values())} cases, {dict(sorted(seen.items()))}")
            statuses += seen
        print(f"{sum(statuses.values())} cases, {dict(sorted(statuses.items()))}")
        print(f"{num_failures} operations failed; {before:.0f} to {server.memory():.0f} MiB")
    sys.exit(num_failures > 0)


def _try(operation: schemathesis.APIOperation, num_cases: int, seen: Counter[int]) -> None:
    @settings(
        max_examples=num_cases,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), is_served=booleans())
    def never_breaks(case: schemathesis.Case, is_served: bool) -> None:
        if is_served and isinstance(case.body, dict):  # by chance, no language ever would be
            case.body.update({name: SERVED[name] for name in SERVED.keys() & case.body.keys()})
        response = case.call(timeout=120)
        seen[response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    never_breaks()


if __name__ == "__main__":
    main()
