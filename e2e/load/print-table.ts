/** Rows of equal length, the first of them the head, in columns. */
export function printTable(rows: readonly (readonly (string | number)[])[]): void {
  const texts = rows.map((row) => row.map(String))
  const widths = (texts[0] ?? []).map((_cell, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  for (const row of texts)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
