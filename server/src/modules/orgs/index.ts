export { createOrgs, type Orgs } from './module.ts'
