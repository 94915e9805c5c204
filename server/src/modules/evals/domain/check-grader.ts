import type { Grader, MultiGrader, SingleGrader } from '@switchyard/contracts/evals/graders.ts'
import { Fault } from '#platform/errors/fault.ts'
import { checkTemplates, templatesOfGrader } from './check-templates.ts'
import { FormulaError, formulaFunctions, parseFormula, type Formula } from './formula.ts'

/** A grader of the graders API, taken apart: one for each name, and how their scores become one. */
export interface GraderParts {
  readonly parts: readonly { readonly name: string; readonly param: string; readonly grader: SingleGrader }[]
  /** Null: there is one, and its score is the reward. */
  readonly formula: Formula | null
}

const param = 'grader'

export function graderParts(grader: Grader): GraderParts {
  if (grader.type !== 'multi') return { parts: [{ name: grader.name, param, grader }], formula: null }
  const formula = readFormula(grader)
  if (isSingle(grader.graders)) {
    const only = grader.graders
    return { parts: [{ name: only.name, param: `${param}.graders`, grader: only }], formula }
  }
  const parts = Object.entries(grader.graders).map(([name, part]) => ({
    name,
    param: `${param}.graders.${name}`,
    grader: part,
  }))
  return { parts, formula }
}

const isSingle = (graders: MultiGrader['graders']): graders is SingleGrader => typeof graders['type'] === 'string'

function invalid(place: string, said: string): Fault {
  return new Fault('invalid_value', `Invalid '${place}': ${said}.`, { param: place })
}

function readFormula({ calculate_output: text }: MultiGrader): Formula {
  try {
    return parseFormula(text)
  } catch (error) {
    if (error instanceof FormulaError) throw invalid(`${param}.calculate_output`, error.message)
    throw error
  }
}

/** Refuses a grader that could not grade anything. */
export function checkGrader({ parts, formula }: GraderParts): void {
  for (const { param: place, grader } of parts) {
    checkTemplates(templatesOfGrader(grader, place), { itemSchema: null, sample: true })
  }
  if (formula === null) return
  const taken = parts.find(({ name }) => formulaFunctions.has(name))
  if (taken !== undefined) throw invalid(taken.param, `a formula knows '${taken.name}' as a function`)
  const names = new Set(parts.map(({ name }) => name))
  const unknown = formula.names.find((name) => !names.has(name))
  if (unknown !== undefined) throw invalid(`${param}.calculate_output`, `there is no grader '${unknown}'`)
}
