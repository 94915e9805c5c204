import { randomBytes, type webcrypto } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type * as X509 from '@peculiar/x509'

const DAY_MS = 86_400_000
/** Longer than any container lives; the authority goes with it. */
const VALID_DAYS = 365
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const

export type Authority = { caPem: string; leafFor(host: string): Promise<SecureContext> }

/** A certificate authority for one container. Its key exists in this process only and cannot be exported. */
export async function createAuthority(label: string): Promise<Authority> {
  // Loaded with the first secret: a proxy without secrets does not pay for it.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const keys = await crypto.subtle.generateKey(CURVE, false, ['sign', 'verify'])
  const ca = await makeCa(x509, keys, label)
  const leaves = new Map<string, Promise<SecureContext>>()
  return {
    caPem: `${ca.toString('pem')}\n`,
    /** One per host that has a secret, of which there are at most SECRETS_MAX. */
    leafFor(host) {
      const made = leaves.get(host) ?? makeLeaf(x509, ca, keys.privateKey, host)
      leaves.set(host, made)
      return made
    },
  }
}

async function makeCa(x509: typeof X509, keys: webcrypto.CryptoKeyPair, label: string): Promise<X509.X509Certificate> {
  return await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`Switchyard egress of ${label}`] }],
    keys,
    ...fresh(),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
}

async function makeLeaf(
  x509: typeof X509,
  ca: X509.X509Certificate,
  signingKey: webcrypto.CryptoKey,
  host: string,
): Promise<SecureContext> {
  const keys = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
  const leaf = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [host.length <= COMMON_NAME_MAX ? host : 'switchyard egress'] }],
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey,
    ...fresh(),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(ca),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`
  return createSecureContext({ key, cert: leaf.toString('pem'), minVersion: 'TLSv1.2' })
}

/** The bound of a common name in X.520. */
const COMMON_NAME_MAX = 64

// From a day ago, so that a clock that is a little behind accepts it too.
function fresh(): { serialNumber: string; notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return {
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + VALID_DAYS * DAY_MS),
  }
}
