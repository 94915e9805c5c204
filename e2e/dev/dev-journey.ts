/**
 * What a newcomer does with the README alone: start it, read dev.env, ask the model, upload a file, run a command in a
 * hosted container, end it. Afterwards no process, no port and no mount of it may be left.
 *
 *   node e2e/dev/dev-journey.ts [--split]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import OpenAI, { toFile } from 'openai'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { isAlive } from '../../dev/processes.ts'
import { recordCounts } from '../../tools/testing/record-counts.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readyBoundMs = 120_000
const endBoundMs = 60_000
const answerBoundMs = 30_000
/** The image is made beside everything else: on a machine that has never made one, from Debian's packages. */
const imageBoundMs = 300_000
const artifact = 'Run `echo 42 > /mnt/data/answer.txt`.'

interface Step {
  readonly promise: string
  readonly holds: () => boolean | Promise<boolean>
}

/** Every pid that the stack wrote down while it ran, each in a folder of its own. */
function recordedPids(folder: string): number[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const files = folders.flatMap(({ name }) =>
    readdirSync(join(folder, name)).flatMap((file) => (file.endsWith('.pid') ? [join(name, file)] : [])),
  )
  return files.flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return text.startsWith('{') ? [(JSON.parse(text) as { pid: number }).pid] : []
  })
}

async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** A shell call in a container of its own, and the file that it cites. */
async function runHosted(client: OpenAI): Promise<{ text: string; containerId: string }> {
  const tools = [{ type: 'shell' as const, environment: { type: 'container_auto' as const } }]
  const { output } = await client.responses.create({ model: 'rehearsal', input: artifact, tools })
  const message = output.find((item) => item.type === 'message')
  const [part] = message?.content ?? []
  const [cited] = part?.type === 'output_text' ? part.annotations : []
  if (cited?.type !== 'container_file_citation') throw new Error(`nothing is cited: ${JSON.stringify(output)}`)
  const file = await client.containers.files.content.retrieve(cited.file_id, { container_id: cited.container_id })
  return { text: await file.text(), containerId: cited.container_id }
}

const isDown = (error: unknown) => error instanceof OpenAI.APIError && error.status === 503

const mountsUnder = (folder: string) => readFileSync('/proc/self/mounts', 'utf8').split(` ${folder}/`).length - 1

const portOf = (url: string | undefined) => Number(new URL(url ?? '').port)

async function journey(dev: ChildProcess, folder: string): Promise<Step[]> {
  const envFile = join(folder, 'dev.env')
  const ready = await becomesTrue(() => existsSync(envFile) || dev.exitCode !== null, readyBoundMs)
  if (!ready || dev.exitCode !== null)
    return [{ promise: 'npm run dev reaches ready and writes dev.env', holds: () => false }]
  const env = parseEnv(readFileSync(envFile, 'utf8'))
  const client = new OpenAI({
    baseURL: env['OPENAI_BASE_URL'] ?? '',
    apiKey: env['OPENAI_API_KEY'] ?? '',
    adminAPIKey: env['SWITCHYARD_ADMIN_KEY'] ?? '',
  })
  const [, provider] = /base_url: (\S+)/.exec(readFileSync(join(folder, 'models.yaml'), 'utf8')) ?? []
  const ports = [portOf(env['OPENAI_BASE_URL']), portOf(env['SWITCHYARD_TLS_BASE_URL']), portOf(provider)]
  const pids = recordedPids(folder)
  return [
    { promise: 'npm run dev reaches ready and writes dev.env', holds: () => true },
    {
      promise: 'the rehearsal model answers, at once and in the background',
      holds: async () => {
        const asked = { model: 'rehearsal', input: 'Say hello.' }
        const { output_text: text } = await client.responses.create(asked)
        const { id } = await client.responses.create({ ...asked, background: true })
        let later = ''
        await becomesTrue(async () => {
          const response = await client.responses.retrieve(id)
          later = response.output_text
          return response.status === 'completed'
        }, answerBoundMs)
        return text.startsWith('Hello.') && later === text
      },
    },
    {
      promise: 'a response streams through the helper of the SDK',
      holds: async () => {
        const stream = client.responses.stream({ model: 'rehearsal', input: 'Think about 17 times 23.' })
        return (await stream.finalResponse()).output_text === '17 times 23 is 391.'
      },
    },
    {
      promise: 'a file goes up and comes down with nothing but dev.env',
      holds: async () => {
        const file = await client.files.create({
          file: await toFile(Buffer.from('hello'), 'hello.txt'),
          purpose: 'user_data',
        })
        return (await (await client.files.content(file.id)).text()) === 'hello'
      },
    },
    {
      promise: 'a command runs in a hosted container, and the file that it wrote comes down',
      holds: async () => {
        let ran: { text: string; containerId: string } | null = null
        await becomesTrue(async () => {
          ran = await runHosted(client).catch((error: unknown) => {
            if (isDown(error)) return null
            throw error
          })
          return ran !== null
        }, imageBoundMs)
        const { text, containerId } = ran ?? { text: '', containerId: '' }
        return text === '42\n' && (await client.containers.retrieve(containerId)).status === 'active'
      },
    },
    {
      promise: 'the admin key of dev.env opens the admin API',
      holds: async () =>
        (await client.admin.organization.projects.list()).data.some(({ id }) => id === env['SWITCHYARD_PROJECT_ID']),
    },
    { promise: 'the TLS listener is there', holds: () => answers(ports[1] ?? 0) },
    {
      promise: 'SIGTERM ends it with exit code 0',
      holds: async () => {
        dev.kill('SIGTERM')
        await becomesTrue(() => dev.exitCode !== null || dev.signalCode !== null, endBoundMs)
        return dev.exitCode === 0
      },
    },
    {
      promise: `no process of it is left (${pids.length} were seen)`,
      holds: () => pids.length >= 4 && !pids.some((pid) => isAlive(pid)),
    },
    { promise: 'no mount of it is left', holds: () => mountsUnder(folder) === 0 },
    { promise: 'no port of it is left', holds: async () => !(await Promise.all(ports.map(answers))).some(Boolean) },
  ]
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-journey-'))
  // With npm in between, as people run it: npm must hand the signal on.
  const dev = spawn('npm', ['run', '--silent', 'dev', '--', '--no-watch', '--data', folder, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SWITCHYARD_DEV_SANDBOX_IMAGE: 'slim' },
  })
  let passed = 0
  let failed = 0
  try {
    for (const { promise, holds } of await journey(dev, folder)) {
      const held = await Promise.resolve(holds()).catch((error: unknown) => {
        console.log(error)
        return false
      })
      if (held) passed += 1
      else failed += 1
      console.log(`${held ? 'ok  ' : 'FAIL'} ${promise}`)
    }
  } finally {
    if (dev.exitCode === null) dev.kill('SIGTERM')
    await becomesTrue(() => dev.exitCode !== null || dev.signalCode !== null, endBoundMs)
    rmSync(folder, { recursive: true, force: true })
  }
  recordCounts('dev', { passed, failed })
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
