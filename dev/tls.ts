import { randomBytes, X509Certificate } from 'node:crypto'
import type { webcrypto } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadX509 } from './x509.ts'

const DAY_MS = 86_400_000
const CA_DAYS = 1825
// Browsers refuse server certificates that are valid for longer than 398 days.
const SERVER_DAYS = 397
const RENEW_BEFORE_DAYS = 30
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const
const CA_NAME = 'CN=Switchyard development CA'

export interface TlsFiles {
  /** What clients trust: NODE_EXTRA_CA_CERTS. It stays the same when the server's certificate is renewed. */
  ca: string
  cert: string
  key: string
}

interface Pair {
  cert: string
  key: string
}

/** The certificates for https on this machine, under `<dataDir>/tls`; made on first use, renewed in good time. */
export async function keepTls(dataDir: string, now: Date = new Date()): Promise<TlsFiles> {
  const folder = join(dataDir, 'tls')
  mkdirSync(folder, { recursive: true })
  const caFiles = { cert: join(folder, 'ca.pem'), key: join(folder, 'ca-key.pem') }
  const serverFiles = { cert: join(folder, 'server.pem'), key: join(folder, 'server-key.pem') }

  const keptCa = findPair(caFiles, now)
  const ca = keptCa ?? (await makeCa(now))
  if (keptCa === null) writePair(caFiles, ca)

  const server = findPair(serverFiles, now)
  const issuedByCa = server !== null && new X509Certificate(server.cert).verify(new X509Certificate(ca.cert).publicKey)
  if (!issuedByCa) writePair(serverFiles, await makeServer(ca, now))
  return { ca: caFiles.cert, cert: serverFiles.cert, key: serverFiles.key }
}

/** The stored pair, or null when it is missing, unreadable or due for renewal. */
function findPair(files: Pair, now: Date): Pair | null {
  try {
    const pair = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
    const { validToDate } = new X509Certificate(pair.cert)
    return validToDate.getTime() - now.getTime() < RENEW_BEFORE_DAYS * DAY_MS ? null : pair
  } catch {
    return null
  }
}

function writePair(files: Pair, pair: Pair): void {
  // A name of its own and a rename: a server that starts meanwhile reads the old file or the new one, never half.
  for (const [file, content] of [
    [files.key, pair.key],
    [files.cert, pair.cert],
  ] as const) {
    const draft = `${file}.${randomBytes(4).toString('hex')}`
    writeFileSync(draft, content, { mode: file === files.key ? 0o600 : 0o644 })
    renameSync(draft, file)
  }
}

async function makeCa(now: Date): Promise<Pair> {
  const x509 = await loadX509()
  const keys = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: CA_NAME,
    keys,
    ...validity(now, CA_DAYS),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: cert.toString('pem'), key: await exportKey(keys.privateKey) }
}

async function makeServer(ca: Pair, now: Date): Promise<Pair> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(ca.cert)
  const signingKey = await importKey(ca.key)
  const keys = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
  const cert = await x509.X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    ...validity(now, SERVER_DAYS),
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: cert.toString('pem'), key: await exportKey(keys.privateKey) }
}

// From a day ago, so that a clock that is a little behind accepts it too.
function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - DAY_MS), notAfter: new Date(now.getTime() + days * DAY_MS) }
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  return await crypto.subtle.importKey('pkcs8', der, CURVE, false, ['sign'])
}
