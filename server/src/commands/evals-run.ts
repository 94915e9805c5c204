import { accessSync, constants } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { onStopSignal } from '#platform/lifecycle/signals.ts'
import { UsageError, type Command } from './command.ts'
import { ApiRefusal, openApi, ServerAway } from './evals/api.ts'
import { readDefinition, type Definition } from './evals/definition.ts'
import { listFailingRows } from './evals/failing-rows.ts'
import { followRun } from './evals/follow-run.ts'
import { junitOf } from './evals/junit.ts'
import { reportJson, reportLines, type RunReport } from './evals/report.ts'
import { columnsOf, paintOf, Screen } from './evals/screen.ts'
import { findServer, type ServerAddress } from './evals/server-address.ts'
import { startRun } from './evals/start-run.ts'
import { exitCodes, verdictOf } from './evals/verdict.ts'

const failingDefault = 10
const failingMax = 1_000

const help = `switchyard evals run eval.yaml [options]

Uploads the data, makes the eval, runs it and waits for it.

  --base-url URL       where the API is, such as http://127.0.0.1:8080/v1 (else OPENAI_BASE_URL)
  --api-key-file FILE  holds the key of a project and nothing else (else OPENAI_API_KEY)
  --failing N          how many rows that did not pass are shown (default ${failingDefault}, at most ${failingMax})
  --json               print the result as JSON
  --junit FILE         write the result as JUnit XML, for a pipeline
  --help

Where no address is given, address and key are those in .data/dev.env, which npm run dev writes.

Exit code:
  0  it passed
  1  fewer rows passed than pass_rate_min
  2  the run failed or was cancelled, more rows erred than errors_max, the server stayed away, the result could
     not be written, or Ctrl-C came before the run began
  3  the file, the command or the key is not in order, or the server refused it

Ctrl-C cancels the run. docs/guides/evals.md says what stands in eval.yaml.
`

interface Asked {
  readonly definition: Definition
  readonly server: ServerAddress
  readonly failing: number
  readonly json: boolean
  readonly junit: string | undefined
}

function readAsked(args: readonly string[]): Asked | null {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'base-url': text, 'api-key-file': text, failing: text, junit: text, json: flag, help: flag },
  })
  if (values.help) return null
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) throw new UsageError('Name one eval file: switchyard evals run eval.yaml')
  const failing = Number(values.failing ?? failingDefault)
  if (!Number.isInteger(failing) || failing < 0 || failing > failingMax) {
    throw new UsageError(`--failing takes a number from 0 to ${failingMax}.`)
  }
  if (values.junit !== undefined) checkFolderOf(values.junit)
  const server = findServer({ baseUrl: values['base-url'], apiKeyFile: values['api-key-file'] })
  return { definition: readDefinition(file), server, failing, json: values.json, junit: values.junit }
}

/** Nobody should wait for a run to learn that its result cannot be written. */
function checkFolderOf(file: string): void {
  const folder = dirname(file)
  try {
    accessSync(`${folder}/`, constants.W_OK)
  } catch (error) {
    throw new UsageError(`--junit: ${folder} is no folder to write to (${(error as { code?: string }).code}).`)
  }
}

async function writeJunit(file: string, xml: string): Promise<boolean> {
  try {
    await writeFile(file, xml)
    return true
  } catch (error) {
    process.stderr.write(`--junit: ${file} could not be written (${(error as { code?: string }).code}).\n`)
    return false
  }
}

async function runEval({ definition, server, failing, json, junit }: Asked): Promise<number> {
  const begun = performance.now()
  const screen = new Screen(process.stderr)
  const stop = new AbortController()
  let running: string | null = null
  const deaf = onStopSignal(() => {
    const cancelling = 'Cancelling the run; Ctrl-C again leaves at once and lets it go on.'
    screen.say(running === null ? 'Stopping; Ctrl-C again leaves at once.' : cancelling)
    stop.abort()
  })
  try {
    const api = openApi(server, (says) => screen.trouble(says))
    const started = await startRun(api, definition, (line) => screen.say(line), stop.signal)
    running = started.run.id
    screen.say(`Started ${started.run.id}: ${started.run.report_url}`)
    const run = await followRun(api, started, (progress) => screen.show(progress), stop.signal)
    const rows = await listFailingRows(api, run, started.eval.testing_criteria, failing)
    screen.clear()
    const verdict = verdictOf(run, definition.bounds)
    const report: RunReport = {
      eval: started.eval,
      run,
      failing: rows,
      verdict,
      elapsedMs: performance.now() - begun,
    }
    const lines = json
      ? [JSON.stringify(reportJson(report), null, 2)]
      : reportLines(report, columnsOf(process.stdout), paintOf(process.stdout))
    process.stdout.write(`${lines.join('\n')}\n`)
    const written = junit === undefined || (await writeJunit(junit, junitOf(report, definition.bounds)))
    return written ? exitCodes[verdict.outcome] : exitCodes.broken
  } catch (error) {
    screen.clear()
    if (error instanceof ApiRefusal && running !== null) throw new ServerAway(`${running}: ${error.message}`)
    if (stop.signal.aborted && running === null) {
      process.stderr.write('Stopped before the run began.\n')
      return exitCodes.broken
    }
    throw error
  } finally {
    deaf()
  }
}

const isOfParseArgs = (error: unknown): error is Error =>
  error instanceof TypeError && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')

export const evalsRun: Command = {
  usage: 'evals run FILE',
  says: 'Run an eval file against a server and wait for the result; --help says more.',
  async run(args) {
    // Whoever stopped reading what is said still gets the right exit code.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
    try {
      const asked = readAsked(args)
      if (asked !== null) return await runEval(asked)
      process.stdout.write(help)
      return exitCodes.passed
    } catch (error) {
      const known = error instanceof UsageError || error instanceof ApiRefusal || isOfParseArgs(error)
      const { message, stack } = error as Error
      // Never the exit code that an uncaught error has: it says that too few rows passed.
      process.stderr.write(`${known || error instanceof ServerAway ? message : stack}\n`)
      return known ? exitCodes.usage : exitCodes.broken
    }
  },
}
