import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { settingsReference } from '#platform/config/reference.ts'
import type { Command } from './command.ts'

const page = fileURLToPath(new URL('../../../docs/reference/settings.md', import.meta.url))

export const settingsCommand: Command = {
  usage: 'settings [--write|--check]',
  says: 'Print the reference of all settings.',
  async run([flag]) {
    const text = settingsReference()
    if (flag === '--write') await writeFile(page, text)
    else if (flag === '--check') {
      if ((await readFile(page, 'utf8')) === text) return 0
      process.stderr.write('docs/reference/settings.md is not current. Run: npm run switchyard -- settings --write\n')
      return 1
    } else process.stdout.write(text)
    return 0
  },
}
