import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { SettingsRefused } from './load.ts'

/** The content of a file that a setting names. What is wrong with it stops the start, in words for the operator. */
export function readYamlFile(setting: string, file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (err) {
    const { code } = err as { code?: string }
    throw new SettingsRefused([`${setting}: the file cannot be read (${code}); name one that this process may read.`])
  }
  try {
    return parse(text)
  } catch (err) {
    const [first] = (err as Error).message.split('\n')
    throw new SettingsRefused([`${setting}: the file is not YAML: ${first}`])
  }
}
