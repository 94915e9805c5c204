/** The bytes of base64, with or without padding and line breaks; null for anything else. Takes linear time. */
export function decodeBase64(text: string): Buffer | null {
  if (/[^A-Za-z0-9+/=\s]/.test(text)) return null
  const packed = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text
  const padding = packed.indexOf('=')
  if (padding >= 0 && (padding < packed.length - 2 || packed.length % 4 !== 0)) return null
  const length = padding < 0 ? packed.length : padding
  if (length % 4 === 1) return null
  return Buffer.from(packed, 'base64')
}
