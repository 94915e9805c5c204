import { skillBytesMax, skillFilesMax } from '@switchyard/contracts/skills.ts'
import { InvalidSkill, skillFileName, type SkillFile } from './skill-file.ts'
import { checkPath, shown } from './skill-path.ts'

/** What the Finder of macOS puts beside the files of an archive. */
const finderFolder = '__MACOSX/'

/** Two names that one file system takes for the same are the same. */
const folded = (path: string) => path.normalize('NFC').toLowerCase()

/** Checks the files of a skill as a whole, puts `SKILL.md` at their root and sorts them. */
export function arrangeFiles(given: readonly SkillFile[]): SkillFile[] {
  const files = given.filter(({ path }) => !path.startsWith(finderFolder))
  if (files.length === 0) throw new InvalidSkill('There are no files.')
  if (files.length > skillFilesMax) throw new InvalidSkill(`There are more than ${skillFilesMax} files.`)
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > skillBytesMax) throw new InvalidSkill(`The files have more than ${skillBytesMax} bytes.`)
  for (const { path } of files) checkPath(path)
  refuseClashes(files)
  const top = topFolder(files)
  return files
    .map((file) => ({ ...file, path: file.path.slice(top.length) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** A path may be there once, and as a file or as a folder. */
function refuseClashes(files: readonly SkillFile[]): void {
  const paths = new Set<string>()
  const folders = new Set<string>()
  for (const { path } of files) {
    const known = folded(path)
    if (paths.has(known)) throw new InvalidSkill(`The path ${shown(path)} is there twice, if only in other letters.`)
    paths.add(known)
    for (let at = known.indexOf('/'); at >= 0; at = known.indexOf('/', at + 1)) folders.add(known.slice(0, at))
  }
  const both = files.find(({ path }) => folders.has(folded(path)))
  if (both !== undefined) throw new InvalidSkill(`The path ${shown(both.path)} is a file and a folder.`)
}

/** The one folder that everything is in, when `SKILL.md` is right below it; otherwise nothing is taken away. */
function topFolder(files: readonly SkillFile[]): string {
  const [first = ''] = files[0]?.path.split('/') ?? []
  const top = `${first}/`
  const wrapped = files.every(({ path }) => path.startsWith(top))
  return wrapped && files.some(({ path }) => path === `${top}${skillFileName}`) ? top : ''
}
