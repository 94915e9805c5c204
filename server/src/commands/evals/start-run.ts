import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Eval } from '@switchyard/contracts/evals/evals.ts'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { File } from '@switchyard/contracts/files.ts'
import { UsageError } from '../command.ts'
import type { Api } from './api.ts'
import type { Definition } from './definition.ts'

export interface StartedRun {
  readonly eval: Eval
  readonly run: EvalRun
  readonly rowsTotal: number | null
}

/** Uploads, makes the eval where it is not there, and starts a run. */
export async function startRun(
  api: Api,
  { name, eval: wanted, source, dataSource, metadata }: Definition,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<StartedRun> {
  const data = source.kind === 'given' ? source : await upload(api, source.path, say, signal)
  const made =
    'id' in wanted
      ? await api.call<Eval>({ method: 'GET', path: `/evals/${encodeURIComponent(wanted.id)}`, signal })
      : await api.call<Eval>({ method: 'POST', path: '/evals', body: wanted.body, signal })
  signal.throwIfAborted()
  // Not called off half-way: a run that nobody knows of could not be cancelled.
  const run = await api.call<EvalRun>({
    method: 'POST',
    path: `/evals/${made.id}/runs`,
    body: { name, metadata, data_source: { ...dataSource, source: data.source } },
  })
  return { eval: made, run, rowsTotal: data.rowsTotal }
}

async function upload(api: Api, path: string, say: (line: string) => void, signal: AbortSignal) {
  const rowsTotal = await countRows(path)
  if (rowsTotal === 0) throw new UsageError(`${path} has no rows: write one JSON object a line.`)
  const form = { path, purpose: 'evals' }
  const file = await api.call<File>({ method: 'POST', path: '/files', form, signal })
  say(`Uploaded ${basename(path)} as ${file.id}`)
  return { source: { type: 'file_id', id: file.id }, rowsTotal }
}

const newLine = 0x0a
const isBlank = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0d

/** Lines with something on them, as the server counts them. */
async function countRows(path: string): Promise<number> {
  let rows = 0
  let something = false
  try {
    for await (const chunk of createReadStream(path)) {
      for (const byte of chunk as Buffer) {
        if (byte === newLine) {
          if (something) rows += 1
          something = false
        } else if (!something && !isBlank(byte)) something = true
      }
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${(error as { code?: string }).code}).`)
  }
  return something ? rows + 1 : rows
}
