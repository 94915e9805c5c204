/** Rounded down, so that 100 % means all of them and a share below a bound never reads like it. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–'
  const tenths = Math.floor((part * 1_000) / whole + 1e-9) / 10
  return `${tenths.toFixed(tenths === 0 || tenths === 100 ? 0 : 1)} %`
}
