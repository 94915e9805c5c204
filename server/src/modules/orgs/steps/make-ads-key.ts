import type { AdAccountId, OrgId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { newId } from '#platform/std/ids.ts'
import type { Actor } from '../domain/actor.ts'
import { noSuch } from '../domain/no-such.ts'
import { storedScopes } from '../domain/scopes.ts'
import { hasAdAccount, insertAdAccount } from '../store/ad-accounts.ts'
import type { OrgsTables } from '../store/tables.ts'
import { mintKey, type FreshKey } from './mint-key.ts'

export interface WantedAdsKey {
  readonly orgId: OrgId
  readonly name: string
  readonly scopes?: readonly string[] | undefined
  /** Without one, a new ad account is made for the key. */
  readonly adAccountId?: AdAccountId | undefined
}

export async function makeAdsKey(tx: Tx, cellTag: string, actor: Actor, wanted: WantedAdsKey): Promise<FreshKey> {
  const { orgId } = wanted
  const adAccountId = wanted.adAccountId ?? newId<AdAccountId>('adacct_')
  if (wanted.adAccountId === undefined) await insertAdAccount(tx, { id: adAccountId, org_id: orgId })
  else if (!(await hasAdAccount(own<OrgsTables>(tx), orgId, adAccountId))) throw noSuch('ad account', 'ad_account_id')
  return await mintKey(tx, cellTag, actor, {
    kind: 'ads',
    orgId,
    adAccountId,
    name: wanted.name,
    scopes: storedScopes(wanted.scopes),
    lifetimeSeconds: null,
  })
}
