import { createInvite } from '@switchyard/contracts/organization/invites.ts'
import { newId } from '#platform/std/ids.ts'
import { make, type Place } from '../place.ts'

export interface Person {
  readonly id: string
  readonly email: string
}

export interface Membership {
  readonly role?: 'owner' | 'reader'
  /** Of the project, too. */
  readonly inProject?: boolean
}

export const newEmail = () => `${newId('guest-')}@example.com`

/** A person who was invited and came: the only way into an organisation. */
export async function newMember(at: Place, { role = 'reader', inProject = false }: Membership = {}): Promise<Person> {
  const email = newEmail()
  const projects = inProject ? [{ id: at.project.id, role: 'member' }] : []
  const { id: inviteId } = await make(at, createInvite, { body: { email, role, projects } })
  const { userId } = await at.app.orgs.acceptInvite({ inviteId, email, name: 'Person' })
  return { id: userId, email }
}
