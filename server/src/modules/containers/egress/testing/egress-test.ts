import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'

/** A test that needs hosts on ports 80 and 443 of loopback addresses; told, not failed, where that is not permitted. */
export function egressTest(name: string, body: (t: TestContext) => Promise<void>): void {
  test(name, { skip: whyNot() }, body)
}

function whyNot(): string | false {
  if (process.platform !== 'linux') return 'the proxy runs on Linux only'
  if (process.getuid?.() === 0) return false
  const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  return first <= 80 ? false : 'ports 80 and 443 may be opened by root only here'
}
