import assert from 'node:assert/strict'
import test from 'node:test'
import type { InviteRow } from '../store/invites.ts'
import { inviteView } from './invite-view.ts'

const row: InviteRow = {
  id: 'invite-1' as InviteRow['id'],
  email: 'a@example.com',
  role: 'reader',
  projects: [],
  created_at: new Date(1_700_000_000_000),
  expires_at: new Date(1_700_604_800_000),
  accepted_at: null,
  expired: false,
}

test('an invite is pending until it is accepted or its time has passed, and stays accepted afterwards', () => {
  assert.equal(inviteView(row).status, 'pending')
  assert.equal(inviteView({ ...row, expired: true }).status, 'expired')
  const accepted = inviteView({ ...row, expired: true, accepted_at: new Date(1_700_000_001_000) })
  assert.equal(accepted.status, 'accepted')
  assert.equal(accepted.accepted_at, 1_700_000_001)
})
