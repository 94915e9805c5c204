import type { OrgId } from '@switchyard/contracts/ids.ts'
import { parseArgs } from 'node:util'
import { UsageError, type Command } from './command.ts'
import { readTier, withOperatorOrgs } from './operator-orgs.ts'

export const orgsTier: Command = {
  usage: 'orgs tier --org=ID --tier=TIER',
  says: 'Set the usage tier of an organisation, or leave it to what it pays: earned.',
  async run(args) {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { org: text, tier: text } })
    if (values.org === undefined || values.tier === undefined) {
      throw new UsageError('Name both: switchyard orgs tier --org=ID --tier=unlimited|free|tier_1|…|tier_5|earned')
    }
    const orgId = values.org as OrgId
    const tier = readTier(values.tier)
    return await withOperatorOrgs('orgs tier', async ({ orgs, setTier }) => {
      if ((await orgs.findOrganization(orgId)) === null) throw new UsageError('There is no organisation of this id.')
      process.stdout.write(`organisation  ${orgId}\ntier          ${await setTier(orgId, tier)}\n`)
      return 0
    })
  },
}
