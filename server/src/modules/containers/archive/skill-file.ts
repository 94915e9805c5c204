/** One file of a skill, wherever it came from: part of a form or entry of an archive. */
export interface SkillFile {
  /** Below the folder of the skill, with `/` between steps. */
  readonly path: string
  readonly bytes: Buffer
  readonly executable: boolean
}

/** The name of the file that says what a skill is. */
export const skillFileName = 'SKILL.md'

/** Why a folder or archive is no skill, for the person who sent it. */
export class InvalidSkill extends Error {
  override readonly name = 'InvalidSkill'
}

const shebang = Buffer.from('#!')

/** Forms carry no modes, and many archives none that can be trusted to be meant: a script says itself that it is one. */
export function isScript(bytes: Buffer): boolean {
  return bytes.subarray(0, shebang.length).equals(shebang)
}
