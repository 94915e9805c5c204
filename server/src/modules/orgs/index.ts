export { createOrgs, type Orgs } from './module.ts'
export { actorOf, operator, type Actor } from './domain/actor.ts'
export type { AuditEvent } from './domain/audit-event.ts'
