import { writeFile } from 'node:fs/promises'
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

  --base-url URL       where the API is, such as http://127.0.0.1:8080/v1 (else OPENAI_BASE_URL, else .data/dev.env)
  --api-key-file FILE  holds the key of a project (else OPENAI_API_KEY, else .data/dev.env)
  --failing N          how many rows that did not pass are shown (default ${failingDefault}, at most ${failingMax})
  --json               print the result as JSON
  --junit FILE         write the result as JUnit XML, for a pipeline
  --help

Exit code: 0 it passed, 1 fewer rows passed than pass_rate_min, 2 the run failed, was cancelled, or more rows
erred than errors_max, 3 the file or the command is not in order.

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
  const server = findServer({ baseUrl: values['base-url'], apiKeyFile: values['api-key-file'] })
  return { definition: readDefinition(file), server, failing, json: values.json, junit: values.junit }
}

async function runEval({ definition, server, failing, json, junit }: Asked): Promise<number> {
  const begun = performance.now()
  const screen = new Screen(process.stderr)
  const stop = new AbortController()
  let running: string | null = null
  const deaf = onStopSignal(() => {
    screen.say('Cancelling the run; Ctrl-C again leaves at once and lets it go on.')
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
    if (junit !== undefined) await writeFile(junit, junitOf(report, definition.bounds))
    const lines = json
      ? [JSON.stringify(reportJson(report), null, 2)]
      : reportLines(report, columnsOf(process.stdout), paintOf(process.stdout))
    process.stdout.write(`${lines.join('\n')}\n`)
    return exitCodes[verdict.outcome]
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
    try {
      const asked = readAsked(args)
      if (asked !== null) return await runEval(asked)
      process.stdout.write(help)
      return exitCodes.passed
    } catch (error) {
      const known = error instanceof UsageError || error instanceof ApiRefusal || isOfParseArgs(error)
      if (!known && !(error instanceof ServerAway)) throw error
      process.stderr.write(`${error.message}\n`)
      return known ? exitCodes.usage : exitCodes.broken
    }
  },
}
