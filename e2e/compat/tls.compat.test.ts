import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const JOURNEY = fileURLToPath(new URL('./testing/tls-journey.ts', import.meta.url))
const BOUND_MS = 60_000

async function runJourney(env: NodeJS.ProcessEnv): Promise<string> {
  const { stack: running } = stack()
  const { stdout } = await promisify(execFile)(process.execPath, [JOURNEY], {
    timeout: BOUND_MS,
    env: {
      ...process.env,
      // As .data/dev.env gives them to a shell.
      OPENAI_BASE_URL: `https://127.0.0.1:${running.tlsPort}/v1`,
      OPENAI_API_KEY: running.seeded.projectKey,
      ...env,
    },
  })
  return stdout.trim()
}

test('over https the SDK works with the certificate authority of dev and nothing else set', async () => {
  assert.equal(await runJourney({ NODE_EXTRA_CA_CERTS: stack().stack.tls.ca }), 'over tls')
})

test('a client that does not know the certificate authority refuses the server', async () => {
  await assert.rejects(
    runJourney({ NODE_EXTRA_CA_CERTS: '' }),
    /UNABLE_TO_VERIFY|self.signed|unable to (?:verify|get)/i,
  )
})
