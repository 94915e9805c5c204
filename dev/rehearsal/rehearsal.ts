import { LLMock, loadFixturesFromDir, Logger } from '@copilotkit/aimock'
import { fileURLToPath } from 'node:url'
import { freePort } from '../engines/free-port.ts'
import { readRefusals, refuse } from './refusals.ts'
import { runCommands } from './run-commands.ts'
import { writeModels } from './write-models.ts'

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url))
const chatPath = '/v1/chat/completions'
const journalEntriesMax = 100

export interface RehearsalOptions {
  readonly dataDir: string
  /** The models that someone brought along; the rehearsal model is added to them. */
  readonly modelsFile?: string
}

/** A provider that runs in this process and answers from the fixtures, so that everything can be tried without a model. */
export interface Rehearsal {
  readonly url: string
  /** What `SWITCHYARD_MODELS` is to be. */
  readonly modelsFile: string
  stop(): Promise<void>
}

export async function startRehearsal({ dataDir, modelsFile }: RehearsalOptions): Promise<Rehearsal> {
  const mock = new LLMock({
    host: '127.0.0.1',
    port: await freePort(),
    logLevel: 'silent',
    journalMaxEntries: journalEntriesMax,
  })
  mock.addFixtures(runCommands)
  // Its loader wonders aloud about the file of refusals.
  mock.addFixtures(loadFixturesFromDir(fixtures, new Logger('silent')).map(anyCase))
  mock.mount(chatPath, { handleRequest: refuse(readRefusals(fixtures)) })
  await mock.start()
  const url = `${mock.url}/v1`
  return { url, modelsFile: writeModels({ dataDir, url, given: modelsFile ?? null }), stop: () => mock.stop() }
}

type Fixture = ReturnType<typeof loadFixturesFromDir>[number]

/** What is typed at the beginning of a sentence has a capital letter. */
function anyCase(fixture: Fixture): Fixture {
  const { userMessage } = fixture.match
  if (typeof userMessage !== 'string') return fixture
  return { ...fixture, match: { ...fixture.match, userMessage: new RegExp(RegExp.escape(userMessage), 'i') } }
}
