/** A duration as the rate limit headers write it: `120ms`, `1s`, `6m0s`, `1h0m0s`. */
export function durationText(ms: number): string {
  const whole = Math.ceil(ms)
  if (whole < 1_000) return whole === 0 ? '0s' : `${whole}ms`
  const seconds = Math.floor(whole / 1_000)
  const rest = whole % 1_000
  const second = `${seconds % 60}${rest === 0 ? '' : `.${String(rest).padStart(3, '0').replace(/0+$/, '')}`}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return second
  const minute = `${minutes % 60}m${second}`
  const hours = Math.floor(minutes / 60)
  return hours === 0 ? minute : `${hours}h${minute}`
}
