import { applyDiff, type Editor } from '@openai/agents'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Applies patches to the files of one folder, in the form that the agents package wants them applied. */
export function folderEditor(folder: string): Editor {
  const at = (path: string) => join(folder, path)
  return {
    async createFile({ path, diff }) {
      await writeFile(at(path), applyDiff('', diff, 'create'))
      return { status: 'completed', output: `made ${path}` }
    },
    async updateFile({ path, diff }) {
      await writeFile(at(path), applyDiff(await readFile(at(path), 'utf8'), diff))
      return { status: 'completed', output: `changed ${path}` }
    },
    async deleteFile({ path }) {
      await rm(at(path))
      return { status: 'completed', output: `removed ${path}` }
    },
  }
}
