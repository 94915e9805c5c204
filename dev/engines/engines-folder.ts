import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where engines that npm does not ship are kept once unpacked, shared by every checkout of this user. */
export function enginesFolder(): string {
  const given = process.env['SWITCHYARD_DEV_ENGINES_DIR']
  if (given !== undefined && given !== '') return given
  const cache = process.env['XDG_CACHE_HOME']
  return join(cache !== undefined && cache !== '' ? cache : join(homedir(), '.cache'), 'switchyard', 'engines')
}
