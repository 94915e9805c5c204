import { randomBytes } from 'node:crypto'

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const

/** An authority that stands for the public ones, and one certificate of it for all the given names. */
export async function testCertificates(names: readonly string[]): Promise<{ ca: string; cert: string; key: string }> {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const [caKeys, keys] = await Promise.all([
    crypto.subtle.generateKey(CURVE, false, ['sign', 'verify']),
    crypto.subtle.generateKey(CURVE, true, ['sign', 'verify']),
  ])
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    name: 'CN=Test root',
    keys: caKeys,
    signingAlgorithm: SIGNING,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  })
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    subject: 'CN=Test host',
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    ],
  })
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    ca: ca.toString('pem'),
    cert: leaf.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`,
  }
}
