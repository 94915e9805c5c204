/** One request as it will go over the wire, and what is known about it beforehand. */
export interface Plan {
  /** What it was made from, for the table. */
  readonly operation: string
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
  /**
   * `whole`: well framed, so a reply must come. `broken`: not HTTP as it should be; the server may answer or hang up,
   * but must do one of them.
   */
  readonly framing: 'whole' | 'broken'
  /** For broken ones: the bytes themselves. */
  readonly bytes?: Buffer
}

export function bytesOf(plan: Plan): Buffer {
  if (plan.bytes !== undefined) return plan.bytes
  const lines = plan.headers.map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${plan.method} ${plan.target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return Buffer.concat([head, plan.body])
}

const shownBytesMax = 2_000

/** How to send it again by hand: bash's printf takes every byte. */
export function reproduction(plan: Plan, port: number): string {
  const bytes = bytesOf(plan)
  const text = bytes
    .subarray(0, shownBytesMax)
    .toString('latin1')
    .replaceAll(/[\\%'\u0000-\u001f\u007f-\u00ff]/g, (char) => {
      if (char === '%') return '%%'
      return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
    })
    .replaceAll('\\x0d\\x0a', '\\r\\n')
  const cut = bytes.length > shownBytesMax ? ` # … and ${bytes.length - shownBytesMax} bytes more` : ''
  return `printf '${text}' | nc -q 5 127.0.0.1 ${port}${cut}`
}
