/** The largest that the column holds. */
const versionMax = 2 ** 31 - 1

/** A version as callers write it: a positive integer or `latest`. Null for text that names no version. */
export function readVersion(text: string): number | 'latest' | null {
  if (text === 'latest') return text
  const version = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : null
  return version !== null && version <= versionMax ? version : null
}
