#!/usr/bin/env python3
"""Joins two CSV files on a column that both have."""
import csv
import sys

left_path, right_path, column = sys.argv[1:4]
with open(right_path, newline="") as file:
    rows = csv.DictReader(file)
    right = {row[column]: row for row in rows}
    right_names = [name for name in rows.fieldnames or [] if name != column]
with open(left_path, newline="") as file:
    rows = csv.DictReader(file)
    writer = csv.DictWriter(sys.stdout, [*(rows.fieldnames or []), *right_names])
    writer.writeheader()
    for row in rows:
        match = right.get(row[column], {})
        writer.writerow({**row, **{name: match.get(name, "") for name in right_names}})
