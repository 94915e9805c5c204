export { createContainers, type Containers } from './module.ts'
