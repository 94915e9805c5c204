import { writeArchive } from '../archive/write-archive.ts'

export type Files = Readonly<Record<string, string | Buffer>>

export const skillText = (name = 'csv-workbench', description = 'Reads and joins CSV files.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# How to\n`

/** A skill as a folder of two files. */
export const skillFolder = (name?: string, description?: string): Files => ({
  'csv-workbench/SKILL.md': skillText(name, description),
  'csv-workbench/scripts/join.py': '#!/usr/bin/env python3\nprint("joined")\n',
})

/** The multipart body of a folder, as an SDK sends it. */
export function folderForm(files: Files = skillFolder(), fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [path, content] of Object.entries(files)) form.append('files[]', blobOf(content), path)
  return form
}

/** The multipart body of one zip. */
export function zipForm(zip: Buffer, fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('files', blobOf(zip), 'skill.zip')
  return form
}

export async function zipOf(files: Files): Promise<Buffer> {
  return await writeArchive(
    Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content), executable: false })),
  )
}

const blobOf = (content: string | Buffer) => new Blob([new Uint8Array(Buffer.from(content))])
