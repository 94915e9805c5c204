import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { text } from 'node:stream/consumers'
import { PassThrough } from 'node:stream'
import { insideFolder, world } from './world.ts'

/** Nobody answers some of the datagrams; what counts is that they were sent. */
const waitSeconds = '1'

/**
 * The same image and the same programs with the network of the machine and every right: what they send when nothing
 * holds them shows that a count of zero says something.
 */
export class Unconfined {
  readonly #docker: Docker
  readonly #container: Docker.Container

  private constructor(docker: Docker, container: Docker.Container) {
    this.#docker = docker
    this.#container = container
  }

  static async start(socketPath: string, image: string, roots: string): Promise<Unconfined> {
    const docker = new Docker({ socketPath })
    const container = await docker.createContainer({
      Image: image,
      Cmd: ['sleep', 'infinity'],
      User: '0:0',
      Env: ['SSL_CERT_FILE=/roots.pem', `ESCAPE_WAIT_S=${waitSeconds}`, 'PYTHONDONTWRITEBYTECODE=1'],
      HostConfig: {
        NetworkMode: 'host',
        Dns: [world.resolver.v4],
        DnsSearch: ['.'],
        CapAdd: ['NET_RAW', 'NET_ADMIN'],
        Init: true,
        Binds: [`${fileURLToPath(insideFolder)}:/escape:ro`, `${roots}:/roots.pem:ro`],
      },
    })
    await container.start()
    return new Unconfined(docker, container)
  }

  async run(number: number): Promise<string> {
    const exec = await this.#container.exec({
      Cmd: ['python3', '/escape/run.py', String(number)],
      AttachStdout: true,
      AttachStderr: true,
    })
    const stream = await exec.start({})
    const [out, other] = [new PassThrough(), new PassThrough()]
    this.#docker.modem.demuxStream(stream, out, other)
    stream.once('end', () => {
      out.end()
      other.end()
    })
    const [printed] = await Promise.all([text(out), text(other)])
    return printed
  }

  async stop(): Promise<void> {
    await this.#container.remove({ force: true, v: true })
  }
}
