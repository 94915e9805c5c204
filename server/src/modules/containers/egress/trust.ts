import { X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import { writeTrustStore } from './jks.ts'

const FOLDER = '/run/egress'
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A secret with one of these names gets no variable: the shell itself would no longer work. */
const RESERVED = /^(?:PATH|HOME|IFS|ENV|BASH_ENV|PS4|SHELLOPTS|BASHOPTS|LD_.*)$/

/**
 * The files for /run/egress of a container whose proxy ends TLS: `ca.pem` is every public root and the container's own
 * authority, `own-ca.pem` the authority alone, `truststore.jks` the same as `ca.pem` for Java.
 */
export function trustFiles(caPem: string): Record<'ca.pem' | 'own-ca.pem' | 'truststore.jks', string | Buffer> {
  knownRoots ??= publicRoots()
  return {
    'ca.pem': knownRoots.pem + caPem,
    'own-ca.pem': caPem,
    'truststore.jks': writeTrustStore([...knownRoots.certificates, new X509Certificate(caPem).raw], new Date()),
  }
}

type Roots = { pem: string; certificates: Buffer[] }

/** Read once, by the first container that needs them: it takes a tenth of a second. */
let knownRoots: Roots | undefined

/** Node's roots, the machine's and the operator's, each once. What cannot be read is left out. */
function publicRoots(): Roots {
  const roots = new Map<string, { pem: string; der: Buffer }>()
  for (const pem of (['bundled', 'system', 'extra'] as const).flatMap((kind) => getCACertificates(kind))) {
    try {
      const certificate = new X509Certificate(pem)
      roots.set(certificate.fingerprint256, { pem: pem.trim(), der: certificate.raw })
    } catch {
      // A root that does not parse is of no use to any client either.
    }
  }
  const all = [...roots.values()]
  return { pem: all.map(({ pem }) => `${pem}\n`).join(''), certificates: all.map(({ der }) => der) }
}

/** The variables of every command: placeholders of secrets, and where programs find the roots. */
export function commandEnv(names: readonly { name: string; domain: string }[], hasCa: boolean): Record<string, string> {
  const placeholders = names
    .filter(({ name }) => IDENTIFIER.test(name) && !RESERVED.test(name))
    .map(({ name }) => [name, `$${name}`])
  return {
    ...(Object.fromEntries(placeholders) as Record<string, string>),
    ...(hasCa ? trustVariables() : {}),
    // Services that a command left running answer on loopback, whatever proxy a program is told to use.
    NO_PROXY: 'localhost,127.0.0.1',
    no_proxy: 'localhost,127.0.0.1',
  }
}

function trustVariables(): Record<string, string> {
  const all = `${FOLDER}/ca.pem`
  return {
    SSL_CERT_FILE: all, // OpenSSL: Python, Ruby, PHP; Go reads it too
    CURL_CA_BUNDLE: all,
    REQUESTS_CA_BUNDLE: all,
    PIP_CERT: all,
    GIT_SSL_CAINFO: all,
    NODE_EXTRA_CA_CERTS: `${FOLDER}/own-ca.pem`, // beside its own roots, so the one is enough
    JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${FOLDER}/truststore.jks -Djavax.net.ssl.trustStoreType=jks`,
  }
}
