const batchDefaultSeconds = 30 * 86_400

/** Seconds from creation to expiry, or null for never: batch files go after thirty days unless told otherwise. */
export function expirySeconds(purpose: string, expiresAfter: { seconds: number } | undefined): number | null {
  if (expiresAfter !== undefined) return expiresAfter.seconds
  return purpose === 'batch' ? batchDefaultSeconds : null
}
