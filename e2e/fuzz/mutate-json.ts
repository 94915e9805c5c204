import type { Chance } from './chance.ts'
import { oddText, oddValue } from './odd-values.ts'

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype

/** The same value with something wrong, somewhere. */
export function mutateJson(value: unknown, chance: Chance): unknown {
  if (isFields(value)) return mutateFields(value, chance)
  if (Array.isArray(value)) return mutateList(value, chance)
  return oddValue(chance)
}

function mutateFields(fields: Fields, chance: Chance): unknown {
  const names = Object.keys(fields)
  const name = names.length === 0 ? '' : chance.pick(names)
  switch (names.length === 0 ? chance.pick([3, 4]) : chance.below(6)) {
    case 0:
      return without(fields, name)
    case 1:
      return withField(fields, name, oddValue(chance))
    case 2:
      return withField(without(fields, name), oddText(chance), fields[name])
    case 3:
      return withField(fields, oddText(chance), oddValue(chance))
    case 4:
      return oddValue(chance)
    default:
      return withField(fields, name, mutateJson(fields[name], chance))
  }
}

function mutateList(list: readonly unknown[], chance: Chance): unknown {
  switch (chance.below(4)) {
    case 0:
      return []
    case 1:
      return [...list, ...list, ...list]
    case 2:
      return [...list, oddValue(chance)]
    default:
      return list.map((item) => (chance.often(0.5) ? mutateJson(item, chance) : item))
  }
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))
}

/** Defined rather than assigned: `__proto__` must become a field. */
function withField(fields: Fields, name: string, value: unknown): Fields {
  return Object.defineProperty({ ...fields }, name, { value, enumerable: true, configurable: true, writable: true })
}
