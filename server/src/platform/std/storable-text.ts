/** PostgreSQL stores neither U+0000 nor half a surrogate pair, and no honest client sends them. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
