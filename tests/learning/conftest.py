"""The table that the slow tier ends with."""


def pytest_terminal_summary(terminalreporter):
    rows = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in report.user_properties
        if name == "accuracies"
    ]
    if rows:
        terminalreporter.section(
            "accuracy in % on the demo corpus' sets; * the model's context answers the set"
        )
        for row in sorted(rows):
            terminalreporter.write_line(row)
