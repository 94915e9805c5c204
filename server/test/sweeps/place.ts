import assert from 'node:assert/strict'
import type { Auth, Operation, RepliedBy } from '@switchyard/contracts/operation.ts'
import { callOperation, type CallInput, type CallReply } from '../call-operation.ts'
import type { TestApp, TestOrganization, TestProject } from '../test-app.ts'

/** A project and its organisation: where an example makes what it needs, and whose keys it uses. */
export interface Place {
  readonly app: TestApp
  readonly org: TestOrganization
  readonly project: TestProject
}

export const ownPlace = (app: TestApp): Place => ({ app, org: app.org, project: app.project })
export const siblingPlace = (app: TestApp): Place => ({ app, org: app.org, project: app.other })
export const strangerPlace = (app: TestApp): Place => ({ app, org: app.otherOrg, project: app.otherOrg.project })

export function keyFor(place: Place, auth: Auth): string {
  const keys: Record<Auth, string> = {
    project_key: place.project.key,
    admin_key: place.org.adminKey,
    ads_key: place.org.adsKey,
  }
  return keys[auth]
}

/** Calls an operation with the key of the place. */
export async function ask<O extends Operation>(
  place: Place,
  operation: O,
  input: CallInput = {},
): Promise<CallReply<RepliedBy<O>>> {
  const key = keyFor(place, operation.auth)
  return (await callOperation(place.app.baseUrl, operation, { key, ...input })) as CallReply<RepliedBy<O>>
}

/** The same for what an example stands on: anything but success is a broken example. */
export async function make<O extends Operation>(
  place: Place,
  operation: O,
  input: CallInput = {},
): Promise<RepliedBy<O>> {
  const reply = await ask(place, operation, input)
  assert.equal(reply.status, 200, `${operation.id} while making an example: ${reply.text}`)
  return reply.body
}
