import type { Attacker } from './attacker.ts'
import { limitsNumber } from './bypasses.ts'
import { readTold } from './judge.ts'
import type { Runtime, Scene } from './suite.ts'
import { world } from './world.ts'

export interface Limit {
  readonly says: string
  readonly shown: boolean
}

/** What a listed host can be used for, as the document says: it must not say less than what is possible, nor more. */
export async function proveLimits(scene: Scene, runtime: Runtime, attacker: Attacker): Promise<Limit[]> {
  const { open, unlisted } = world.hosts
  await scene.seen()
  const { stdout } = await attacker.run(`PYTHONDONTWRITEBYTECODE=1 python3 run.py ${limitsNumber}`)
  const { tries } = readTold(stdout)
  const { packets, events, doors } = await scene.seen()
  const got = (name: string) => tries.find(({ attempt }) => attempt === name)?.got ?? ''
  const toUnlisted = packets.some(({ to }) => to === unlisted.v4 || to === unlisted.v6)
  const asked = events.some((event) => event.kind === 'question' && event.name.startsWith('told-to-the-owner.'))
  const limits: Limit[] = [
    {
      says: 'A listed host whose TLS is not ended may be asked for another name (domain fronting); it alone gets it',
      shown: got('fronting').includes(`welcome ${open.name} as ${unlisted.name}`),
    },
    { says: 'and may relay for whoever asks it to, by its own connections', shown: got('relay').includes('by relay') },
    { says: 'A listed host may answer DNS questions over https', shown: got('doh') === unlisted.v4 },
    { says: 'A name below a listed wildcard is asked for at the resolver, so its owner learns it', shown: asked },
    { says: 'A secret that is said back as it is, is masked', shown: got('echo') === '$API_KEY' },
    {
      says: 'but not in another form (base64)',
      shown: Buffer.from(got('encoded'), 'base64').toString('utf8') === scene.secret,
    },
    { says: 'None of these sends a packet to an unlisted address', shown: !toUnlisted && doors.length === 0 },
  ]
  for (const { says, shown } of limits) {
    scene.checks.expect(`${runtime} limit: ${says}`, shown, shown ? '' : JSON.stringify(tries))
  }
  return limits
}
