import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeDoubleModels } from '../../server/test/double-models.ts'
import { EventSink } from '../responses/event-sink.ts'
import { Fleet } from '../responses/fleet.ts'
import { RowProvider } from './provider.ts'

export interface RowsFleet {
  readonly fleet: Fleet
  readonly provider: RowProvider
  readonly sink: EventSink
}

/** One api and one worker process, with a provider of their own and a receiver for the news of runs. */
export async function withRowsFleet<Result>(
  settings: Readonly<Record<string, string>>,
  work: (rows: RowsFleet) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-evals-'))
  const provider = new RowProvider()
  const sink = new EventSink()
  try {
    const models = await writeDoubleModels(folder, await provider.listen())
    const url = await sink.listen()
    const own = { SWITCHYARD_HTTP_CHECK_REPLIES: 'false', SWITCHYARD_MODELS: models, ...settings }
    const fleet = await Fleet.start({ api: 1, worker: 1, settings: own })
    try {
      await fleet.client().webhooks.create({
        name: 'sink',
        url,
        event_types: ['eval.run.succeeded', 'eval.run.failed', 'eval.run.canceled'],
      })
      return await work({ fleet, provider, sink })
    } finally {
      await fleet.stop()
    }
  } finally {
    await provider.end()
    await sink.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
