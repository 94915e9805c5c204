import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

// Where distributions keep server programs; an ordinary user's PATH often lacks it.
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** The full path of a program on PATH, or null. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SERVER_FOLDERS].filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
