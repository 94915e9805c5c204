export { createOrgs, type ContainerNetwork, type Orgs, type Project } from './module.ts'
