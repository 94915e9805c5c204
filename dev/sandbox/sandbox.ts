import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { IMAGE_KINDS, imageTag, isImageKind, type ImageKind } from '../../sandbox/runtime/recipe.ts'
import { chooseEngine, type ChosenEngine } from './choose-engine.ts'
import { endHost } from './end-host.ts'
import { makeImage, type MakingImage } from './make-image.ts'

export type SandboxWish = ImageKind | 'none'

export interface SandboxOptions {
  readonly dataDir: string
  readonly image: SandboxWish
  /** Of the person who runs dev. */
  readonly given?: { readonly socket?: string | undefined; readonly image?: string | undefined }
  readonly onProgress?: (line: string) => void
}

/** What the role sandbox of a stack stands on: a Docker engine and the image. */
export interface DevSandbox {
  /** For the server's processes. */
  readonly settings: Readonly<Record<string, string>>
  /** One line for people: what the hosted shell runs on, or why it is off and what to do. */
  readonly state: string
  stop(): Promise<void>
}

const guide = 'docs/guides/hosting-containers.md'

export function readSandboxWish(text: string | undefined): SandboxWish {
  if (text === undefined || text === '') return 'full'
  if (text === 'none' || isImageKind(text)) return text
  throw new Error(`SWITCHYARD_DEV_SANDBOX_IMAGE=${text}: take one of ${[...IMAGE_KINDS, 'none'].join(', ')}.`)
}

/** The settings of a stack without hosted shell: no engine of the machine is touched. */
export function withoutSandbox(dataDir: string): Record<string, string> {
  return {
    SWITCHYARD_SANDBOX_DIR: join(dataDir, 'sandbox'),
    SWITCHYARD_SANDBOX_DOCKER_SOCKET: join(dataDir, 'no-docker.sock'),
  }
}

/** Finds or starts Docker, and has the image made beside everything else when it is not there yet. */
export async function startSandbox(options: SandboxOptions): Promise<DevSandbox> {
  const { dataDir, image, given = {}, onProgress = () => undefined } = options
  const off = (reason: string, settings = {}): DevSandbox => ({
    settings: { ...withoutSandbox(dataDir), ...settings },
    state: `off: ${reason}`,
    stop: async () => {},
  })
  if (image === 'none') return off('SWITCHYARD_DEV_SANDBOX_IMAGE=none')
  const engine = await chooseEngine({ dataDir, givenSocket: given.socket, onProgress })
  const tag = given.image ?? imageTag(image)
  if (typeof engine === 'string') {
    const socket = given.socket === undefined ? {} : { SWITCHYARD_SANDBOX_DOCKER_SOCKET: given.socket }
    return off(engine, { ...socket, SWITCHYARD_SANDBOX_IMAGE: tag })
  }
  const prepared = new Preparing(engine, image, tag, onProgress)
  if (given.image === undefined) await prepared.begin()
  return {
    settings: {
      ...withoutSandbox(dataDir),
      SWITCHYARD_SANDBOX_DOCKER_SOCKET: engine.socket,
      SWITCHYARD_SANDBOX_IMAGE: tag,
    },
    get state() {
      return prepared.state
    },
    async stop() {
      await prepared.stop()
      for (const dir of hostFolders(dataDir)) await endHost(engine.socket, dir)
      await engine.stop()
    },
  }
}

/** From an engine that may still be starting to an image that is there. */
class Preparing {
  readonly #engine: ChosenEngine
  readonly #kind: ImageKind
  readonly #tag: string
  readonly #onProgress: (line: string) => void
  #making: MakingImage | null = null
  #ending = false
  state: string

  constructor(engine: ChosenEngine, kind: ImageKind, tag: string, onProgress: (line: string) => void) {
    this.#engine = engine
    this.#kind = kind
    this.#tag = tag
    this.#onProgress = onProgress
    this.state = `on ${engine.name}, ${tag}`
  }

  /** Returns when the image is there, or as soon as it is clear that this takes longer. */
  async begin(): Promise<void> {
    const engineUp = this.#engine.up.then(async () => await createEngineApi(this.#engine.socket).hasImage(this.#tag))
    const ready = this.state
    const rest = engineUp
      .then(async (has) => {
        if (has || this.#ending) return
        this.#making = makeImage(this.#kind, this.#engine.socket, this.#onProgress)
        await this.#making.made
        this.#onProgress('image: ready; the hosted shell works within seconds')
        this.state = ready
      })
      .catch((error: unknown) => {
        if (this.#ending) return
        const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
        this.state = `off: ${why} See ${guide}.`
        this.#onProgress(`hosted shell ${this.state}`)
      })
    if (!this.#engine.soon || !(await engineUp.catch(() => true))) {
      this.state = `the image ${this.#kind} is being made in the background; until then shell calls fail`
      return
    }
    await rest
  }

  async stop(): Promise<void> {
    this.#ending = true
    await this.#making?.stop()
  }
}

function hostFolders(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter((name) => /^sandbox(-\d+)?$/.test(name))
  return names.map((name) => join(dataDir, name))
}
