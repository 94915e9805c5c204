export { createFiles, type Files } from './module.ts'
