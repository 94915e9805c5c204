import type * as X509 from '@peculiar/x509'

/** Loads the certificate library. Dynamic, because it needs `reflect-metadata` in place before its first line runs. */
export async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}
