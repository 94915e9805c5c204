import { parseArgs } from 'node:util'
import { UsageError, type Command } from './command.ts'
import { readTier, withOperatorOrgs } from './operator-orgs.ts'

/** The first admin key of an organisation cannot come from the API, which asks for one. */
export const orgsCreate: Command = {
  usage: 'orgs create --name=NAME [--region=REGION] [--tier=TIER]',
  says: 'Make an organisation and print its first admin key, once.',
  async run(args) {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { name: text, region: text, tier: text } })
    const { name, region } = values
    if (name === undefined) throw new UsageError('Give the organisation a name: switchyard orgs create --name=NAME')
    const tier = values.tier === undefined ? null : readTier(values.tier)
    return await withOperatorOrgs('orgs create', async ({ orgs, setTier }) => {
      const made = await orgs.createOrganization({ name, ...(region !== undefined && { region }) })
      if (tier !== null) await setTier(made.orgId, tier)
      process.stdout.write(
        `organisation  ${made.orgId}\nadmin key     ${made.adminKey}\nThe key is shown this once; keep it safe.\n`,
      )
      return 0
    })
  },
}
