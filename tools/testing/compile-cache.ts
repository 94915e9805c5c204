import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Node keeps what it compiled in this folder, by the content of each file. Nearly every test file loads the whole
 * server, and from there does so in half the time.
 */
export function withCompileCache(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: join(tmpdir(), 'switchyard-compile-cache'), ...env }
}
