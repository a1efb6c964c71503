"""The tables that the slow tier ends with."""

# What a test records under a name -> the heading of its table.
TABLES = {
    "accuracies": "accuracy in % on the demo corpus' sets; * the model's context answers the set",
    "bleu": "BLEU of the demo corpus' test text with another context than in training",
}


def pytest_terminal_summary(terminalreporter):
    for table, heading in TABLES.items():
        rows = [
            value
            for outcome in ("passed", "failed")
            for report in terminalreporter.stats.get(outcome, [])
            for name, value in report.user_properties
            if name == table
        ]
        if rows:
            terminalreporter.section(heading)
            for row in sorted(rows):
                terminalreporter.write_line(row)
