import { OpenAI, type ClientOptions } from 'openai'
import { after, before } from 'node:test'
import type { Stack } from '../../../dev/stack.ts'
import { startTemporaryStack } from '../../temporary-stack.ts'

export interface RunningStack {
  readonly stack: Stack
  /** Where an SDK is pointed at. */
  readonly baseURL: string
  /** The official client with a project key; nothing else is set but what the test sets. */
  project(options?: ClientOptions): OpenAI
  /** The official client with an admin key. */
  admin(options?: ClientOptions): OpenAI
  /** A project of its own, so that a test can count what is in it. */
  newProject(name: string): Promise<NewProject>
}

export interface NewProject {
  readonly projectId: string
  readonly key: string
  client(options?: ClientOptions): OpenAI
}

const STACK_BOUND_MS = 180_000

/**
 * One stack for the tests of a file: engines and one server process with all roles, as `npm run dev` starts them.
 * What the tests share is prepared here, because hooks of a file do not wait for each other.
 */
export function useStack(
  prepare?: (running: RunningStack) => Promise<void>,
  settings: () => Promise<Readonly<Record<string, string>>> = async () => ({}),
): () => RunningStack {
  let running: RunningStack | null = null
  before(
    async () => {
      running = open(await startTemporaryStack({ nodes: { all: 1 }, settings: await settings() }))
      await prepare?.(running)
    },
    { timeout: STACK_BOUND_MS },
  )
  after(async () => await running?.stack.stop(), { timeout: STACK_BOUND_MS })
  return () => {
    if (running === null) throw new Error('the stack is up only while tests run')
    return running
  }
}

function open(stack: Stack): RunningStack {
  const baseURL = `http://127.0.0.1:${stack.httpPort}/v1`
  const withKey = (apiKey: string, options: ClientOptions = {}) => new OpenAI({ baseURL, apiKey, ...options })
  const admin = (options: ClientOptions = {}) => new OpenAI({ baseURL, adminAPIKey: stack.seeded.adminKey, ...options })
  return {
    stack,
    baseURL,
    admin,
    project: (options) => withKey(stack.seeded.projectKey, options),
    async newProject(name) {
      const { projects } = admin().admin.organization
      const { id: projectId } = await projects.create({ name })
      const account = await projects.serviceAccounts.create(projectId, { name: `${name} account` })
      const key = account.api_key?.value ?? ''
      return { projectId, key, client: (options) => withKey(key, options) }
    },
  }
}
